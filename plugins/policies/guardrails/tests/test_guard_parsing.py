"""Any text is judged, and what the parser does not understand is never allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_guardrails import judge as _judge
from pi_guardrails.findings import worst
from pi_guardrails.judge import MOST_STEPS, Judge, judge_command
from pi_guardrails.paths import Places
from pi_guardrails.script import read_script
from pi_guardrails.sed import sed_is_harmless
from pi_guardrails.words import Word, has_index_that_runs, is_stdin
from pi_testing import for_each

if TYPE_CHECKING:
    from pi_guardrails.script import Script

PLACES = Places(cwd="/home/ann/project", home="/home/ann", agent_dir="/home/ann/.pi/agent")
PIECES = (
    "rm -rf / ls echo $X ${X} $( ) ` ' \" \\ \\\n | || & && ; ;; { } ( ) [[ ]] [ ] < > >> << <<< <<- EOF <( >( "
    "$' $\" * ? ~ # ! = X= case in esac if then fi for do done while function a=( ${IFS} $IFS bash -c eval xargs sudo "
    "env - -- \t find -exec \\; + %s .env /dev/sda git push --force"
)
SCRIPTS = st.lists(st.sampled_from([*PIECES.split(" "), " ", "\n", "\n"]), max_size=14).map("".join) | st.lists(
    st.sampled_from(PIECES.split(" ")), max_size=10
).map(" ".join)

HIDING = [
    "{}",
    "ls; {}",
    "ls | {}",
    "ls\n{}",
    "X=1 {}",
    "if true; then {}; fi",
    "case x in x) {};; esac",
    "while false; do {}; done",
    "for i in 1; do {}; done",
    "[[ -f x ]] && {}",
    "! {}",
    "({})",
    "{{ {}; }}",
    'echo "$({})"',
    "echo `{}`",
    "cat <({})",
    "cat <<EOF\n$({})\nEOF",
    "f() {{ {}; }}",
    "a=($({}))",
    "sh -c '{}'",
    'bash -euo pipefail -c "{}"',
    "sh <<'EOF'\n{}\nEOF",
    "sh <<< '{}'",
    "eval '{}'",
    "trap '{}' EXIT",
    "sudo -n {}",
    "env A=1 {}",
    "nohup nice -n 5 {}",
    "timeout --signal=KILL 3 {}",
    "find . -exec {} \\;",
    "xargs {}",
    "time {}",
    "echo ${{x:-$({})}}",
    "echo $(( $({}) ))",
    "ls > $({})",
    "\\{}",
]


@given(st.text() | SCRIPTS)
def test_any_text_gets_a_verdict(text: str) -> None:
    judge_command(text, PLACES)


@given(st.text() | SCRIPTS)
def test_what_the_parser_does_not_understand_is_never_allowed(text: str) -> None:
    if read_script(text, {}).problems:
        assert worst(judge_command(text, PLACES)) is not None


@given(st.text(max_size=40) | SCRIPTS)
def test_nothing_before_it_hides_a_command(text: str) -> None:
    gravest = worst(judge_command(f"{text}\nrm -rf /", PLACES))

    comment_or_text = gravest is None and ("<<" in text or "\\" in text[-1:])
    assert gravest is not None or comment_or_text


@for_each("around", HIDING)
@for_each("command", ["rm -rf /", "mkfs.ext4 /dev/sda1"])
def test_a_command_is_found_in_any_position(around: str, command: str) -> None:
    gravest = worst(judge_command(around.format(command), PLACES))

    assert gravest is not None
    assert gravest.verdict == "deny"


@for_each(
    ("text", "words"),
    [
        ("r\"m\" -'r'f", ["rm", "-rf"]),
        ("$'\\x72\\155' $'a\\tb'", ["rm", "a\tb"]),
        ("a\\ b c", ["a b", "c"]),
        ("rm$IFS-f", ["rm", "-f"]),
        ('"$IFS"', [" \t\n"]),
        ("~/x ~ \\~", ["/home/ann/x", "/home/ann", "~"]),
        ('"a\\"b\\$c" "d\ne"', ['a"b$c', "d\ne"]),
        ("'' x", ["", "x"]),
        ("é{\U0005acd9 'a\u20ac' \"\U0001f600 b\"", ["é{\U0005acd9", "a\u20ac", "\U0001f600 b"]),
    ],
)
def test_words_are_what_the_shell_makes_of_them(text: str, words: list[str]) -> None:
    script = read_script(text, {"HOME": "/home/ann", "IFS": " \t\n"})

    assert [word.text for word in script.commands[0].words] == words
    assert not script.problems


@pytest.mark.parametrize("text", ["HOME=/tmp; rm ~/x", "read HOME; rm ~/x", "IFS=x; rm${IFS}y"])
def test_a_variable_that_the_script_sets_is_not_known(text: str) -> None:
    gravest = worst(judge_command(text, PLACES))

    assert gravest is not None


@for_each("text", ["rm\u00a0-rf /", "ls\r\nrm", "echo \u202e", "ls \0", "echo \ud800", "x" * 100_001])
def test_characters_that_hide_something_are_asked_about(text: str) -> None:
    gravest = worst(judge_command(text, PLACES))

    assert gravest is not None
    assert (gravest.verdict, gravest.rule) == ("ask", "unparsed")


@pytest.mark.parametrize("text", ["a=\\\n\nrm -rf /", "a=\\\n rm -rf /", "1=\\\n\nrm -rf /"])
def test_a_value_on_another_line_than_its_name_hides_no_command(text: str) -> None:
    assert worst(judge_command(text, PLACES)) is not None


@given(st.text() | st.text("s/ey{}w;\\[]!,1$\n ", max_size=30))
def test_any_program_of_sed_is_read(text: str) -> None:
    sed_is_harmless(text)


@for_each(
    "program",
    [
        "p",
        "",
        "1,5p",
        "$!d",
        "/a/,/b/{s/x/y/g;p}",
        "s/[/]/x/",
        "s/[[:space:]/]e/x/",
        "y/abc/def/",
        "a\\\ntext",
        "/^$/d;5q",
        "s/a\\/b/e/",
        "0~3d",
        "\\,a,Id",
        ":a;N;$!ba;s/\\n/ /g",
        "# write",
        "1i we",
        "s/w/e/2",
        "/x/I,+2d",
    ],
)
def test_programs_of_sed_that_only_change_what_they_read_are_harmless(program: str) -> None:
    assert sed_is_harmless(program)


@for_each(
    "program",
    [
        "e",
        "eid",
        "w x",
        "W x",
        "1e id",
        "$!e id",
        "/a/ , /b/ e",
        "{e}",
        "p;e",
        "p\ne",
        "s/a/b/e",
        "s/a/b/gw x",
        "sxaxbxe",
        "s/a\\/b/c/e",
        "s,[,],x,e",
        "y/a/b/;e",
        "s/a/b/\ne",
        "1!{p;w x",
        "\\,a,e",
        "0~2e",
        "/[/]/e id",
        "s/a/b",
        "k",
    ],
)
def test_programs_of_sed_that_do_more_or_are_not_understood_are_not(program: str) -> None:
    assert not sed_is_harmless(program)


@for_each("text", ["sed 's/{}'", "awk '{}'", "sed '/{}'"])
@for_each("part", ["[", "print ", '"\\', "[[:"])
def test_long_programs_of_other_languages_are_asked_about_and_not_read(text: str, part: str) -> None:
    gravest = worst(judge_command(text.format(part * 10_000), PLACES))

    assert gravest is not None
    assert gravest.rule == "inline-code"


@pytest.mark.parametrize("opening", ["(", "$(", "{ ", "if x; then "])
def test_deep_nesting_ends(opening: str) -> None:
    assert worst(judge_command(opening * 3000, PLACES)) is not None


def test_many_commands_end() -> None:
    assert worst(judge_command("ls;" * 2000, PLACES)) is not None


@for_each(
    "path",
    [
        "-",
        "/dev/stdin",
        "/dev//stdin",
        "/dev/../dev/stdin",
        "/dev/fd/0",
        "/dev/fd/63",
        "/proc/self/fd/0",
        "/proc/4242/fd/3",
        "/proc/thread-self/fd/0",
        "/proc/self/task/1/fd/0",
    ],
)
def test_the_standard_input_is_known_under_all_its_names(path: str) -> None:
    assert is_stdin(Word(path))


@for_each("path", ["stdin", "./-", "/dev/null", "/proc/self/status", "dev/stdin", "--"])
def test_other_files_are_not_the_standard_input(path: str) -> None:
    assert not is_stdin(Word(path))


@pytest.mark.parametrize(("text", "runs"), [("a[$(x)]", True), ("a[0]+$(x)", False), ("a[0]", False), ("$(x)", False)])
def test_a_command_in_the_index_of_a_variable_runs(text: str, runs: bool) -> None:
    assert has_index_that_runs(text) is runs


@for_each(
    "text",
    [
        'f=a; echo x > "$f"',
        "f=a && echo x > $f",
        'f=$(mktemp); echo x > "$f"',
        'd=$(mktemp -d) || exit 1; echo x > "$d/a"',
        'OUT=build/a.txt; make > "$OUT"',
        "a=1 b=out.txt; make > $b",
    ],
)
def test_a_value_that_is_certain_is_known(text: str) -> None:
    assert worst(judge_command(text, PLACES)) is None


@for_each(
    "text",
    [
        'echo x > "$f"; f=a',
        'f=a; f=b$1; echo x > "$f"',
        'f=a; read f < list; echo x > "$f"',
        "f=a; 're''ad' f < list; echo x > \"$f\"",
        'f=a; \\read f < list; echo x > "$f"',
        'f=a; . ./other; echo x > "$f"',
        'f=a; eval "$1"; echo x > "$f"',
        'f=a; printf -v f %s "$1"; echo x > "$f"',
        'f=a; for f in "$@"; do echo x > "$f"; done',
        'f=a & echo x > "$f"',
        'true && f=a; echo x > "$f"',
        '(f=a); echo x > "$f"',
        'f=a | cat; echo x > "$f"',
        'g() { f=a; }; echo x > "$f"',
        'f=a make; echo x > "$f"',
        'f+=a; echo x > "$f"',
        'PWD=a; cd /; echo x > "$PWD"',
        "IFS=x; f=axb; echo x > $f",
        'TMPDIR=$1; f=$(mktemp); echo x > "$f"',
        'f=$(mktemp -p "$1"); echo x > "$f"',
    ],
)
def test_a_value_that_may_be_another_one_is_not_known(text: str) -> None:
    assert worst(judge_command(text, PLACES)) is not None


@pytest.mark.parametrize(
    "text",
    [
        "$(" * 170_000,
        "bash -c '" * 20_000,
        "rm a;" * 400 + "cd x;" * 9,
        "watch --foo " + "a " * 490,
        "nice --foo " + "env --x " * 240,
        "; ".join(["kubectl exec a " + "b " * 200] * 40),
        "a" + " | a" * 490,
        "curl " + "$a " * 499,
        "; ".join(f"cd d{number}" for number in range(9)) + "; cp a b c d" * 400,
        "hyperfine " + "'rm -rf a' " * 2000,
    ],
)
def test_what_is_too_long_to_be_judged_is_asked_about(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []

    def counted(script: str, *rest: Any) -> Script:
        sizes.append(len(script))
        return read_script(script, *rest)

    monkeypatch.setattr(_judge, "read_script", counted)
    judge = Judge(PLACES)
    judge.script(text, 0)
    judge.finish()

    assert worst(judge.ground.findings) is not None
    assert judge.steps <= MOST_STEPS
    assert sum(sizes) <= 51 * MOST_STEPS + 100 * len(sizes)


def test_a_script_that_runs_itself_is_judged_once() -> None:
    judge = Judge(PLACES)

    judge.script("echo 'sh x.sh; sh x.sh; rm -rf /' > x.sh; sh x.sh", 0)
    judge.finish()

    assert [finding.rule for finding in judge.ground.findings].count("delete-root") == 1
