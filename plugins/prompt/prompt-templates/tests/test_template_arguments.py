"""How arguments are split, and where they go."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pi_prompt_templates.arguments import split_arguments, substitute
from pi_testing import for_each

SPACES = "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200B)))
LEFT_OUT = SPACES + "\"'\\"
ARGUMENTS = ("one", "two", "three", "four")


@for_each(
    ("text", "arguments"),
    [
        ("", []),
        (" \t ", []),
        ("'tis the season", ["'tis", "the", "season"]),
        ('unclosed "quote here', ["unclosed", '"quote', "here"]),
        ('a "', ["a", '"']),
        ('"a\\"', ['"a\\"']),
        ('\'a "b c"', ["'a", "b c"]),
        ("a\nb\r\nc\u3000d\u00a0e\ufefff\u2028g", ["a", "b", "c", "d", "e", "f", "g"]),
        ("a\x1cb\x85c", ["a\x1cb\x85c"]),
        ("a  b\tc", ["a", "b", "c"]),
        ('"a b" c', ["a b", "c"]),
        ("'a b' c", ["a b", "c"]),
        ("it's fine, isn't it", ["it's", "fine,", "isn't", "it"]),
        ('say"hi there"', ['say"hi', 'there"']),
        (r'"say \"hi\" now" x', ['say "hi" now', "x"]),
        (r"'don\'t' x", ["don't", "x"]),
        (r'"don\'t" x', [r"don\'t", "x"]),
        (r"\"a b\"", [r"\"a", 'b\\"']),
        ('"never closed at all', ['"never', "closed", "at", "all"]),
        ('"" x', ["", "x"]),
        ('"a"b "c"', ["ab", "c"]),
        ('"one\ntwo" three', ["one\ntwo", "three"]),
        ("one\ntwo three", ["one", "two", "three"]),
        ("ä\x1fb", ["ä\x1fb"]),
    ],
)
def test_arguments_are_distinguished(text, arguments):
    assert split_arguments(text) == arguments


@for_each(
    ("template", "text"),
    [
        ("$1-$4-$2", "one-four-two"),
        ("${ARGUMENTS:-none}", "one two three four"),
        ("[$5]", "[]"),
        ("[$0]", "[]"),
        ("$@", "one two three four"),
        ("$ARGUMENTS", "one two three four"),
        ("${@:2}", "two three four"),
        ("${@:0}", "one two three four"),
        ("${@:1}", "one two three four"),
        ("[${@:5}]", "[]"),
        ("${@:2:2}", "two three"),
        ("${@:0:2}", "one two"),
        ("${@:4:9}", "four"),
        ("[${@:2:0}]", "[]"),
        ("${1:-x} ${5:-x y}", "one x y"),
        ("${@:-all}", "one two three four"),
        ("[${5:-}]", "[]"),
        ("${5:-$1}", "$1"),
        ("${5:-$ARGUMENTS and $@}", "$ARGUMENTS and $@"),
        ("$1st", "onest"),
        ("$10", ""),
        ("$", "$"),
        ("$x ${1} ${@} ${x:-y} ${@:-1", "$x ${1} ${@} ${x:-y} ${@:-1"),
        (f"[$1{'0' * 5000}]", "[]"),
        (f"[${{@:{'9' * 5000}}}]", "[]"),
        (f"${{@:1:{'9' * 5000}}}", "one two three four"),
        (f"${'0' * 5000}2", "two"),
        ("$٣", "$٣"),
    ],
)
def test_arguments_go_to_their_places(template, text):
    assert substitute(template, ARGUMENTS) == text


def test_the_tenth_argument_is_not_the_first_and_a_zero():
    assert substitute("$10", [*"abcdefghij"]) == "j"


@for_each("template", ["${1:-x}", "${@:-x}", "${2:-x}"])
@for_each("arguments", [[], [""]])
def test_a_default_replaces_a_missing_value(template, arguments):
    assert substitute(template, arguments) == "x"


TRICKY = st.text(alphabet="$@{}:-123 \\\"'ARGUMENTS\n\t", max_size=30)


@given(st.lists(TRICKY))
def test_the_content_of_arguments_is_never_replaced(arguments):
    assert substitute("$@", arguments) == " ".join(arguments)
    assert substitute("$1|${@:2}", arguments) == f"{' '.join(arguments[:1])}|{' '.join(arguments[1:])}"


@given(TRICKY, st.lists(st.text(max_size=5), max_size=4))
def test_any_template_takes_any_arguments(template, arguments):
    assert isinstance(substitute(template, arguments), str)


@given(st.text(alphabet=st.characters(exclude_characters="$")), st.lists(st.text()))
def test_a_template_without_places_stays_as_it_is(template, arguments):
    assert substitute(template, arguments) == template


@given(st.lists(st.text(alphabet=st.characters(exclude_characters="\\"))))
def test_quoted_arguments_come_out_as_they_went_in(arguments):
    written = " ".join('"{}"'.format(each.replace('"', '\\"')) for each in arguments)

    assert split_arguments(written) == arguments


@given(st.text())
def test_no_letter_is_lost_but_spaces_quotes_and_backslashes(text):
    kept = [each for each in "".join(split_arguments(text)) if each not in LEFT_OUT]

    assert kept == [each for each in text if each not in LEFT_OUT]


@given(st.lists(st.text(alphabet=st.characters(exclude_characters=SPACES + "\"'"), min_size=1), min_size=1))
def test_words_are_the_arguments(words):
    assert split_arguments(" \t".join(words)) == words
