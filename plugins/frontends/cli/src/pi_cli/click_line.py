"""Parses command lines with click: for subcommands, and for ``pi`` if the command line is not in its plain form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pi_cli import option_table
from pi_cli.option_table import own_options
from pi_hookspecs import UnknownName, UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pi_cli.option_table import Option

__all__ = ["as_click", "common_options", "parse_leniently", "parse_own", "parse_strictly", "parse_to_first_word"]

_HINT = "--help lists them; a message that starts with a dash goes after --"


def as_click(option: Option) -> click.Option:
    """Return click's form of an option."""
    if option.is_switch:
        how: dict[str, Any] = {"is_flag": True, "flag_value": True, "default": option.unset}
    elif option.bare is not None:
        how = {"is_flag": False, "flag_value": option.bare}
    else:
        how = {"multiple": option.multiple}
    return click.Option(
        [*option.names, option.destination], metavar=option.metavar or None, help=option.help or None, **how
    )


def common_options() -> list[click.Parameter]:
    """Return the plugins' options, which may be given before any subcommand and after pi's own options."""
    return [as_click(option) for option in option_table.common_options()]


def parse_own(arguments: Sequence[str], more: Iterable[Option]) -> dict[str, Any]:
    """Return the parameters of pi's command line, with these options of plugins.

    Raises:
        UnknownName: An option does not exist.
        UserError: Any other error.
    """
    return parse_strictly(_command(more), arguments)


def parse_leniently(arguments: Sequence[str]) -> dict[str, Any]:
    """Return as many parameters of pi's command line as can be read without knowing the options of plugins."""
    command = _command(())
    command.ignore_unknown_options = True
    known = {name for param in command.params for name in param.opts}
    letters = {name[1] for name in known if _is_letter(name)}
    readable = [
        argument
        for argument in _spelled_out(command, arguments)
        # click would read -nope as -n -o -p -e; letters with an unknown one are one unknown option
        if argument in known or argument[:1] != "-" or argument[:2] == "--" or {*argument[1:]} <= letters
    ]
    return command.make_context("pi", readable, resilient_parsing=True).params


def parse_to_first_word(arguments: Sequence[str], more: Sequence[Option]) -> tuple[dict[str, Any], list[Option]]:
    """Return the parameters of pi's command line before its first word, and the options that were given.

    The first word and all that follows it are the parameter ``words``.
    """
    command = _command(more)
    command.ignore_unknown_options, command.allow_interspersed_args = True, False
    context = command.make_context("pi", [*_spelled_out(command, arguments)], resilient_parsing=True)
    typed = click.core.ParameterSource.COMMANDLINE
    given = [each for each in [*own_options(), *more] if context.get_parameter_source(each.destination) is typed]
    return context.params, given


def parse_strictly(command: click.Command, arguments: Sequence[str]) -> dict[str, Any]:
    """Return a command's parameters; errors of click are converted to ours.

    Raises:
        UnknownName: An option that the command does not have.
        UserError: Any other error.
    """
    try:
        return command.make_context(command.name, [*_spelled_out(command, arguments)]).params
    except click.NoSuchOption as error:
        words = [name for param in command.params for name in param.opts if name.startswith("--")]
        known = words if error.option_name.startswith("--") else ()  # every single letter is near any other
        raise UnknownName("option", error.option_name, known, _HINT) from error
    except click.UsageError as error:
        raise UserError(error.format_message()) from error


def _command(more: Iterable[Option]) -> click.Command:
    words = click.Argument(["words"], nargs=-1, type=click.UNPROCESSED)
    params = [*(as_click(option) for option in [*own_options(), *more]), words]
    return click.Command("pi", params=params, add_help_option=False)


# A short form may have several letters, ``-na``: click takes an argument that is one of the names as a whole before it
# looks for single letters in it.
def _spelled_out(command: click.Command, arguments: Sequence[str]) -> Iterator[str]:
    """Yield the arguments with short options replaced by their long names.

    click looks an argument up among the long names first, and otherwise compares it with all of them for suggestions,
    which takes longer than parsing the whole command line.
    """
    options = {name: each for each in command.params if isinstance(each, click.Option) for name in each.opts}
    is_value = False
    rest = iter(arguments)
    for argument in rest:
        option = None if is_value else options.get(argument)
        if argument == "--" and not is_value:
            yield argument
            yield from rest  # words, including those that look like an option
        else:
            is_value = option is not None and not option.is_flag and not isinstance(option.flag_value, str)
            yield option.opts[-1] if option is not None and _is_letter(argument) else argument


def _is_letter(name: str) -> bool:
    return len(name) == 2 and name[0] == "-"  # noqa: PLR2004 - a dash and a letter
