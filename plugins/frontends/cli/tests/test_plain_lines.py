"""A command line that is written plainly is read as click reads it, and any other is left to click."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pi_cli.click_line import parse_own, parse_to_first_word
from pi_cli.option_table import flag_option, own_options
from pi_cli.plain_line import read_plain
from pi_testing import for_each

FLAGS = [
    flag_option("flag_0", {"name": "loud", "type": "boolean"}),
    flag_option("flag_1", {"name": "depth", "type": "string"}),
]
OPTIONS = [*own_options(), *FLAGS]

names = st.sampled_from([name for option in OPTIONS for name in option.names])
words = st.sampled_from(["hi", "", "@file", "two words", "-x", "-", "-pc", "--name=x", "--nam", "x", "-n"])
lines = st.lists(names | words, max_size=7)


def test_an_ordinary_line_needs_no_click():
    plain = read_plain(["-p", "--model", "offline/rules", "-e", "a", "-e", "b", "say hi"], OPTIONS)

    assert plain is not None
    assert plain.params["model"] == "offline/rules"
    assert plain.params["extensions"] == ("a", "b")
    assert plain.params["words"] == ("say hi",)


@for_each("line", [["-pc"], ["--name=x"], ["--unknown"], ["--model"], ["--list-models"], ["-"]])
def test_other_forms_are_left_to_click(line):
    assert read_plain(line, OPTIONS) is None


@given(lines)
def test_a_plain_line_is_read_as_click_reads_it(line):
    plain = read_plain(line, OPTIONS)

    assert plain is None or plain.params == parse_own(line, FLAGS)


@given(lines)
def test_up_to_the_first_word_too(line):
    plain = read_plain(line, OPTIONS, to_first_word=True)

    if plain is not None:
        params, given_options = parse_to_first_word(line, FLAGS)
        assert len(plain.params["words"]) == len(params["words"])
        assert plain.params["words"][:1] == params["words"][:1]
        assert plain.params | {"words": ()} == params | {"words": ()}
        assert {*plain.given} == {*given_options}
