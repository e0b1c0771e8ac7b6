"""Options by their letter mean what their long names do."""

from __future__ import annotations

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_cli.arguments import parse, peek
from pi_cli.click_line import common_options, parse_strictly
from pi_cli.option_table import own_options
from pi_core.conversation.toolbox import CODING_TOOLS

LETTERS = {
    option.names[0]: option.names[-1]
    for option in own_options()
    if option.is_switch and len(option.names[0]) == 2 and option.names[0] not in ("-c", "-r", "-h", "-v")
}


@given(st.lists(st.sampled_from([*LETTERS, "hi", "--verbose", "-x y"]), max_size=6))
def test_a_letter_is_its_long_name(words):
    arguments = [word for word in " ".join(words).replace("-x y", "--name y").split() if word]

    assert parse(arguments) == parse([LETTERS.get(word, word) for word in arguments])
    assert peek(arguments) == parse(arguments)


@pytest.mark.parametrize("read", [parse, peek])
def test_the_value_of_an_option_may_look_like_a_letter(read):
    options = read(["-n", "-p", "hi"])

    assert (options.name, options.print_only, options.messages) == ("-p", False, ("hi",))


@pytest.mark.parametrize("read", [parse, peek])
def test_an_option_that_may_go_without_value_leaves_the_letter_behind_it_alone(read):
    options = read(["--list-models", "-p"])

    assert (options.list_models, options.print_only) == ("", True)


def test_short_options_may_be_combined():
    options = parse(["-pc", "hi"])

    assert (options.print_only, options.continue_) == (True, True)


def test_a_subcommand_takes_the_words_behind_two_dashes_as_they_are():
    words = click.Argument(["words"], nargs=-1, type=click.UNPROCESSED)
    params = parse_strictly(click.Command("pi", params=[*common_options(), words]), ["-a", "--", "-a", "--", "-h"])

    assert (params["approve"], params["words"]) == (True, ("-a", "--", "-h"))


def test_pis_own_tools_that_an_option_leaves_out_are_all_among_those_of_the_setting():
    left_out = parse(["--no-builtin-tools"]).exclude_tools

    assert set(left_out) == set(CODING_TOOLS)
