"""How blocks look: text snapshots, and what holds for every block at every width."""

from __future__ import annotations

from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from pi_hookspecs import Run
from pi_testing import for_each
from pi_tui.lines.ansi import plain, runs_of_lines, styled
from pi_tui.lines.cache import LayoutCache
from pi_tui.lines.diff import diff_rows
from pi_tui.lines.layout import lay_out
from pi_tui.lines.line import join
from pi_tui.lines.look import Look
from pi_tui.lines.tools.requested import requested
from pi_tui.view.blocks import Answer, Bash, Custom, Error, Image, Notice, Summary, Thinking, Tool, User
from pi_tui.view.clean import clean_output
from pi_tui.view.growing import Growing, Tail

LOOK = Look(width=44, cwd="/w", home="/home/me")


def shown(block, look=LOOK, **changes) -> str:
    from attrs import evolve

    rows = lay_out(block, evolve(look, **changes))
    return "\n".join(str(row).rstrip() for row in rows.window(0, len(rows)))


def tool(name: str, status: str = "done", output: str = "", **fields) -> Tool:
    fields.setdefault("arguments", {})
    return Tool(id="t", call_id="c", name=name, status=status, output=output, **fields)


NUMBERS = "\n".join(map(str, range(1, 42)))
DIFF = "  1 same\n- 2 the old word\n+ 2 the new word\n  3 end"

SKILL = '<skill name="tides" location="/s/SKILL.md">\nReferences are relative to /s.\n\nRead.\n</skill>'
SKILL_IN_FULL = """

 <skill name="tides"
 location="/s/SKILL.md">
 References are relative to /s.

 Read.
 </skill>
"""

CUT = {"truncation": {"truncated": True, "outputLines": 5, "totalLines": 9000}}

INVALID = "\n\n write [invalid arg]\n [invalid arg: content]\n"

WRITTEN = "41 total, ctrl+o to\n expand)\n"

SNAPSHOTS = {
    "user": (User(id="1", text="Look at\nthis"), "\n\n Look at\n this\n"),
    "user with image": (
        User(id="1", text="See", images=(Image("image/png", "A" * 4096),)),
        "\n\n See\n [image: png, 3 KB]\n",
    ),
    "answer": (Answer(id="1", text=Growing("Some *text*."), done=True), "\n Some text."),
    "empty answer": (Answer(id="1"), ""),
    "thinking": (Thinking(id="1", text=Growing("Hm."), done=True), "\n Hm."),
    "redacted thinking": (Thinking(id="1", redacted=True, done=True), "\n Thinking (not readable)"),
    "running command": (
        tool("bash", "running", NUMBERS, arguments={"command": "seq 41"}, started=1.0),
        "\n\n $ seq 41\n ... (36 earlier lines, ctrl+o to expand)\n 37\n 38\n 39\n 40\n 41\n Elapsed 2.5 s\n",
    ),
    "failed command": (
        tool("bash", "error", "no\n\nCommand exited with code 3", arguments={"command": "x"}, duration_ms=80),
        "\n\n $ x\n no\n\n Command exited with code 3\n Took 0.08 s\n",
    ),
    "skill": (
        User(id="1", text=f"{SKILL}\n\nat noon"),
        "\n\n [skill] tides (ctrl+o to expand)\n at noon\n",
    ),
    "skill alone": (User(id="1", text=SKILL), "\n\n [skill] tides (ctrl+o to expand)\n"),
    "call without arguments yet": (tool("bash", "pending", arguments=None), "\n\n $ ...\n"),
    "partial write": (
        tool("write", "pending", arguments=None, received=Growing('{"path": "/w/a.py", "content": "x = 1\\ny')),
        "\n\n write a.py\n x = 1\n y\n",
    ),
    "long write": (
        tool("write", arguments={"path": "n.txt", "content": NUMBERS}),
        f"\n\n write n.txt\n {NUMBERS[:20].replace(chr(10), chr(10) + ' ')}\n ... (31 more lines, {WRITTEN}",
    ),
    "read": (
        tool("read", output="secret", arguments={"path": "/home/me/x.py", "offset": 3, "limit": 4}),
        "\n\n read ~/x.py:3-6\n",
    ),
    "failed read": (tool("read", "error", "No such file", arguments={"path": "x"}), "\n\n read x\n No such file\n"),
    "edit": (
        tool("edit", arguments={"path": "a.py"}, details={"diff": DIFF}),
        "\n\n edit a.py\n   1 same\n - 2 the old word\n + 2 the new word\n   3 end\n",
    ),
    "grep": (
        tool("grep", output="a.py:1: x", arguments={"pattern": "x", "path": "src", "glob": "*.py", "limit": 5}),
        "\n\n grep /x/ in src (*.py) limit 5\n a.py:1: x\n",
    ),
    "grep for blanks": (
        tool("grep", output="a.py:1: x  y", arguments={"pattern": "x  y "}),
        "\n\n grep /x  y / in .\n a.py:1: x  y\n",
    ),
    "ls": (
        tool("ls", output=NUMBERS.replace("\n", "/\n", 1)),
        "\n\n ls .\n 1/\n" + "\n".join(f" {n}" for n in range(2, 21)) + "\n ... (21 more lines, ctrl+o to expand)\n",
    ),
    "matches that were left out": (
        tool(
            "grep",
            output="a.py:1: x\n\n[1 matches limit reached. Use limit=2 for more, or refine pattern]",
            arguments={"pattern": "x"},
            details={"matchLimitReached": 1, "linesTruncated": True},
        ),
        "\n\n grep /x/ in .\n a.py:1: x\n [Truncated: 1 matches limit, some lines\n cut]\n",
    ),
    "names that were left out": (
        tool("find", output="a\n\n[50KB]", arguments={"pattern": "*"}, details=CUT),
        "\n\n find * in .\n a\n [Truncated: 5 of 9,000 lines]\n",
    ),
    "a result of a tool that only looks cut": (
        tool("grep", output="a\n\n[b]", arguments={"pattern": "x"}, details={"matchLimitReached": "many"}),
        "\n\n grep /x/ in .\n a\n\n [b]\n",
    ),
    "reason of a failed search": (
        tool("grep", "error", "The pattern is not a regular expression: it is open", arguments={"pattern": "("}),
        "\n\n grep /(/ in .\n The pattern is not a regular expression:\n it is open\n",
    ),
    "output that was left out": (
        tool(
            "bash",
            output="the end\n\n[Showing lines 9-9 of 9. Full output: /home/me/o.log]",
            arguments={"command": "x"},
            details={"truncation": {"truncated": True, "maxBytes": 51200}, "fullOutputPath": "/home/me/o.log"},
            duration_ms=62_000,
        ),
        "\n\n $ x\n the end\n [Truncated: 50 KB limit, full output in\n ~/o.log]\n Took 1 min 2 s\n",
    ),
    "one long line of output": (
        tool("bash", output="x" * 42 * 8, arguments={"command": "x"}),
        "\n\n $ x\n ... (3 earlier lines, ctrl+o to expand)\n" + f" {'x' * 42}\n" * 5,
    ),
    "a skill that is read": (
        tool("read", output="Read the table.", arguments={"path": "/home/me/.pi/skills/tides/SKILL.md"}),
        "\n\n [skill] tides (ctrl+o to expand)\n",
    ),
    "instructions that are read": (
        tool("read", output="Be brief.", arguments={"path": "/w/AGENTS.md"}),
        "\n\n read resource AGENTS.md (ctrl+o to expand)\n",
    ),
    "an edit before it is made": (
        tool("edit", "running", arguments={"path": "a.py", "edits": [{"oldText": "a\nb", "newText": "a\nc"}]}),
        "\n\n edit a.py\n   a\n - b\n + c\n",
    ),
    "arguments of wrong types": (tool("write", arguments={"path": 1, "content": 2}), INVALID),
    "another tool": (
        tool("weather", output="sunny", arguments={"city": "Oslo", "days": [1, 2]}),
        "\n\n weather city=Oslo days=[1, 2]\n sunny\n",
    ),
    "prose of another tool": (
        tool("task", output="The tide is high at noon, and low in the evening", arguments={}),
        "\n\n task\n The tide is high at noon, and low in the\n evening\n",
    ),
    "user command": (
        Bash(id="1", command="make", output=Tail("out\n"), exit_code=3),
        f"\n{'─' * 44}\n $ make\n out\n (exit 3)\n{'─' * 44}",
    ),
    "running user command": (
        Bash(id="1", command="make", running=True),
        f"\n{'─' * 44}\n $ make\n ⠋ Running... (escape to cancel)\n{'─' * 44}",
    ),
    "cancelled user command": (
        Bash(id="1", command="make", cancelled=True, full_output_path="/home/me/o.txt"),
        f"\n{'─' * 44}\n $ make\n (cancelled)\n Output truncated. Full output: ~/o.txt\n{'─' * 44}",
    ),
    "compaction": (
        Summary(id="1", of="compaction", text="# All", tokens_before=12345),
        "\n\n [compaction]\n Compacted from 12,345 tokens (ctrl+o to\n expand)\n",
    ),
    "custom": (Custom(id="1", custom_type="todo", text="- one"), "\n\n [todo]\n - one\n"),
    "entry without renderer": (Custom(id="1", custom_type="todo"), ""),
    "notice": (Notice(id="1", text="Session name set: demo"), "\n Session name set: demo"),
    "error": (Error(id="1", text="Overloaded", detail="529 {}"), "\n Error: Overloaded"),
}


@for_each(("block", "expected"), SNAPSHOTS.values())
def test_a_block_looks_like_this(block, expected):
    assert shown(block, now=3.5) == expected


EXPANDED = {
    "skill": (User(id="1", text=SKILL), SKILL_IN_FULL),
    "read": (tool("read", output="x = 1\ny = 2", arguments={"path": "x.py"}), "\n\n read x.py\n x = 1\n y = 2\n"),
    "read in part": (
        tool("read", output="x = 1\n\n[Showing lines 1-5 of 9000]", arguments={"path": "SKILL.md"}, details=CUT),
        "\n\n read SKILL.md\n x = 1\n [Truncated: 5 of 9,000 lines]\n",
    ),
    "command": (
        tool("bash", output=NUMBERS, arguments={"command": "seq 41"}),
        f"\n\n $ seq 41\n {NUMBERS.replace(chr(10), chr(10) + ' ')}\n",
    ),
    "compaction": (
        Summary(id="1", of="compaction", text="# All", tokens_before=9),
        "\n\n [compaction]\n Compacted from 9 tokens\n All\n",
    ),
    "error": (Error(id="1", text="Overloaded", detail="529 {}"), "\n Error: Overloaded\n 529 {}"),
}


@pytest.mark.parametrize(("block", "expected"), EXPANDED.values(), ids=EXPANDED)
def test_an_expanded_block_shows_everything(block, expected):
    assert shown(block, expanded=True) == expected


@pytest.mark.parametrize(
    ("data", "measure"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (640).to_bytes(4) + (480).to_bytes(4) + b"\x08\x06", "640x480"),
        (b"GIF89a" + (12).to_bytes(2, "little") + (7).to_bytes(2, "little") + bytes(20), "12x7"),
        (b"\xff\xd8\xff" + bytes(2045), "2 KB"),
        (b"\x89PNG", "6 bytes"),
    ],
)
def test_an_image_is_named_by_its_size(data, measure):
    block = User(id="1", text="", images=(Image("image/x", b64encode(data).decode()),))

    assert f"[image: x, {measure}]" in shown(block)


def test_an_image_without_data_is_named():
    assert "[image: png, 3 bytes]" in shown(User(id="1", text="", images=(Image("image/png", "!!!é"),)))


def test_hidden_thinking_is_one_line():
    assert shown(Thinking(id="1", text=Growing("secret plan")), hide_thinking=True) == "\n Thinking..."


@pytest.mark.slow
@for_each("width", range(1, 301))
@for_each("expanded", [False, True])
def test_every_block_fits_every_width(width, expanded):
    blocks = [block for block, _ in SNAPSHOTS.values()]
    blocks.append(
        tool("bash", output="漢字 \x1b[31mred\x1b[0m 👩\u200d💻 " * 9, arguments={"command": "echo 漢字 " * 9})
    )

    for block in blocks:
        rows = lay_out(block, Look(width=width, expanded=expanded))
        assert all(cell_len(str(row)) <= width for row in rows.window(0, len(rows)))


@pytest.mark.parametrize(
    ("status", "fill"), [("pending", "toolPendingBg"), ("done", "toolSuccessBg"), ("error", "toolErrorBg")]
)
def test_a_call_has_the_background_of_its_state(status, fill):
    rows = lay_out(tool("bash", status), LOOK)

    assert {row.fill for row in rows.window(1, len(rows))} == {fill}


def test_changed_words_of_an_edit_are_reversed():
    _, old, new, _ = diff_rows(DIFF, 40)

    assert [(run.text, run.role, run.reverse) for run in old] == [
        ("- 2 the ", "toolDiffRemoved", False),
        ("old", "toolDiffRemoved", True),
        (" word", "toolDiffRemoved", False),
    ]
    assert [run.text for run in new if run.reverse] == ["new"]


FILE = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"
TWICE = "one\none\n"
SIX = {"path": "a.py", "edits": [{"oldText": "six", "newText": "6\n6"}]}
ONE = {"path": "a.py", "oldText": "one", "newText": "1"}


@for_each(
    ("arguments", "text", "expected"),
    [
        (SIX, FILE, "   ...\n 2 two\n 3 three\n 4 four\n 5 five\n-6 six\n+6 6\n+7 6\n 7 seven"),
        (ONE, "one\r\ntwo\r\n", "-1 one\n+1 1\n 2 two"),
        (ONE, "one", "-1 one\n+1 1"),
        (ONE, TWICE, "- one\n+ 1"),
        (ONE, "another file", "- one\n+ 1"),
        (ONE, None, "- one\n+ 1"),
        ({**ONE, "newText": "one"}, "one", ""),
        ({**ONE, "oldText": ""}, "one", "+ 1"),
        ({"path": "a.py", "edits": [{"oldText": "tw", "newText": "x"}, {"oldText": "wo", "newText": "y"}]}, FILE, None),
        ({**ONE, "path": 3}, "one", "- one\n+ 1"),
    ],
)
def test_an_edit_that_waits_has_numbers_where_its_texts_are_in_the_file_once(arguments, text, expected):
    lines = requested(arguments, Look(width=80, text_of=lambda _path: text))

    assert "\n".join(lines) == ("- tw\n+ x\n- wo\n+ y" if expected is None else expected)


@given(st.text(st.sampled_from("-+ 12ab\n"), max_size=60))
def test_any_text_is_a_diff(text):
    assert join(diff_rows(text, 200)) == text


@for_each(
    "arguments", [{"path": 1}, {"path": None, "content": []}, {"command": {"a": 1}}, {"offset": "x", "pattern": 3}]
)
@for_each("name", ["bash", "read", "edit", "write", "grep", "find", "ls", "other"])
def test_arguments_of_wrong_types_are_survived(name, arguments):
    assert len(lay_out(tool(name, arguments=arguments), LOOK)) >= 3


def test_arguments_are_clean():
    block = tool("bash", arguments={"command": "echo \x1b]0;owned\x07\x1b[2Jhi\u202e"})

    assert shown(block) == "\n\n $ echo hi\u2039U+202E\u203a\n"


def test_a_long_command_is_cut_until_it_is_expanded():
    block = tool("bash", arguments={"command": NUMBERS})

    assert shown(block).split("\n")[2:] == [
        " $ 1",
        *(f" {number}" for number in range(2, 10)),
        " ... (ctrl+o to expand)",
        "",
    ]
    assert shown(block, expanded=True).endswith(" 41\n")


@pytest.mark.slow
def test_ten_megabytes_cost_little():
    line, lines = tool("bash", output="x" * 10_000_000), tool("bash", output="x\n" * 5_000_000)
    command = tool("bash", arguments={"command": "x" * 10_000_000})

    assert len(lay_out(command, LOOK)) < 20
    for block in (line, lines):
        assert len(lay_out(block, LOOK)) < 20
        assert len(lay_out(block, Look(width=44, expanded=True))) < 30_000


# Colours of programs


@for_each(
    ("text", "runs"),
    [
        ("plain", [Run("plain")]),
        ("\x1b[31mred\x1b[0m no", [Run("red", "ansi:1"), Run(" no")]),
        ("\x1b[1;92;44mx", [Run("x", "ansi:10", bold=True, background="ansi:4")]),
        ("\x1b[38;5;208mx\x1b[39my", [Run("x", "ansi:208"), Run("y")]),
        ("\x1b[38:2:255:0:16mx", [Run("x", "#ff0010")]),
        ("\x1b[48;2;1;2;3mx\x1b[49my", [Run("x", background="#010203"), Run("y")]),
        ("\x1b[3;4;7mx\x1b[23;24;27my", [Run("x", italic=True, underline=True, reverse=True), Run("y")]),
        ("\x1b[mx", [Run("x")]),
        ("\x1b[38;5mx\x1b[38;2;1mx\x1b[99999mx", [Run("x"), Run("x"), Run("x")]),
    ],
)
def test_colours_become_runs(text, runs):
    assert [*styled(text)] == runs


def test_a_colour_holds_over_lines():
    assert [*runs_of_lines("\x1b[31ma\nb\x1b[0m\nc", Run("", "muted"))] == [
        (Run("a", "ansi:1"),),
        (Run("b", "ansi:1"),),
        (Run("c", "muted"),),
    ]


@given(st.text(st.sampled_from("\x1b[]0123;:mabc\n"), max_size=40).map(clean_output))
def test_no_escape_sequence_is_left_in_runs(text):
    drawn = "\n".join("".join(run.text for run in runs) for runs in runs_of_lines(text))

    assert "\x1b" not in drawn
    assert drawn == plain(text)


# The cache


def test_unchanged_blocks_are_laid_out_once():
    cache, block = LayoutCache(), User(id="1", text="a")

    first = cache.rows(block, LOOK)

    assert cache.rows(block, LOOK) is first
    block.revision += 1
    assert cache.rows(block, LOOK) is not first


def test_another_look_is_laid_out_again():
    cache, block = LayoutCache(), User(id="1", text="a")

    first = cache.rows(block, LOOK)

    assert cache.rows(block, Look(width=20)) is not first


def test_time_changes_only_what_is_running():
    cache, done, running = LayoutCache(), tool("bash"), tool("bash", "running", started=0.0)
    running.id = "r"
    first = cache.rows(done, LOOK), cache.rows(running, LOOK)
    later = Look(width=44, cwd="/w", home="/home/me", now=9.0)

    assert cache.rows(done, later) is first[0]
    assert "Elapsed 9.0 s" in join(cache.rows(running, later).window(0, 9))


def test_a_growing_answer_keeps_its_rows():
    cache, block = LayoutCache(), Answer(id="1", text=Growing("one\n\n"))
    rows = cache.rows(block, LOOK)
    block.text.append("two\n\nthree")
    block.revision += 1

    assert cache.rows(block, LOOK) is rows
    assert join(rows.window(0, len(rows))) == "\n one\n\n two\n\n three"


def test_a_replaced_answer_is_laid_out_anew():
    cache, block = LayoutCache(), Answer(id="1", text=Growing("one"))
    cache.rows(block, LOOK)
    block.text, block.done = Growing("two"), True
    block.revision += 1

    rows = cache.rows(block, LOOK)

    assert join(rows.window(0, len(rows))) == "\n two"


def test_the_least_recently_used_blocks_are_dropped():
    cache = LayoutCache(most_blocks=2)
    one, two, three = (User(id=each, text=each) for each in "abc")
    kept = cache.rows(one, LOOK)
    cache.rows(two, LOOK)

    cache.rows(one, LOOK)
    cache.rows(three, LOOK)

    assert len(cache) == 2
    assert cache.rows(one, LOOK) is kept


def test_large_layouts_make_room():
    cache = LayoutCache(most_bytes=50_000)
    for number in range(5):
        cache.rows(Notice(id=str(number), text="x\n" * 60), LOOK)

    assert len(cache) == 2
    cache.forget("4", "unknown")
    assert len(cache) == 1
    cache.clear()
    assert len(cache) == 0


@for_each(
    ("path", "link"),
    [
        ("src/tide table.py", "file:///w/src/tide%20table.py"),
        ("/w/a.py", "file:///w/a.py"),
        ("/etc/passwd", None),
        ("../a.py", None),
        ("/wind/a.py", None),
    ],
)
def test_files_of_the_working_directory_are_links(path, link):
    rows = lay_out(tool("read", arguments={"path": path}), LOOK)

    assert [run.link for run in rows.window(0, len(rows))[2].runs if run.role == "accent"] == [link]
