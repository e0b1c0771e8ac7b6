"""``pi prompt show``: the system prompt of a session here, and the origin of each part."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

import click

from pi_cli.click_line import as_click, common_options, parse_strictly
from pi_cli.look import session_to_look_at
from pi_cli.option_table import prompt_options
from pi_cli.prompt_options import parsed_prompt_options
from pi_cli.report import print_json, print_lines
from pi_cli.words import one_line
from pi_core import clean_text
from pi_hookspecs import UnknownName, UserError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pi_core import PluginHost, PromptPart

__all__ = ["run_prompt"]

_USAGE = """\
Usage: pi prompt show [--tokens | --plain | --json]

Print the system prompt that a session in this folder would send. A line before
each part names its source (pi itself, a plugin and its hook, an option), its
file, and its estimated tokens: a quarter of its characters.

  --tokens     Print only these lines, and the sum
  --plain      Print only the prompt, as it is sent
  --json       Print a list of objects
  --tools A,B  As if these tools were offered
  -h, --help   Print this help and exit

--system-prompt, --append-system-prompt, --skill, --no-skills and the other
options that pi --help lists there work as they do in a session.
"""


def run_prompt(arguments: Sequence[str], host: PluginHost) -> int:
    """Print the prompt on stdout.

    Raises:
        UnknownName: There is no such command.
        UserError: The arguments are wrong.
    """
    params = parse_strictly(_command(), arguments)
    words: tuple[str, ...] = params["words"]
    if params["help"] or not words:
        sys.stdout.write(_USAGE)
        return 0
    if words[0] != "show":
        raise UnknownName("command of pi prompt", words[0], ["show"], "There is only show")
    if len(words) > 1:
        raise UserError(f"pi prompt show takes no argument, not {words[1]!r}")
    forms = [name for name in ("tokens", "plain", "json") if params[name]]
    if len(forms) > 1:
        raise UserError(f"--{forms[0]} and --{forms[1]} cannot be used together. Give one of them")
    asyncio.run(_show(params, host))
    return 0


def _command() -> click.Command:
    return click.Command(
        "pi prompt",
        params=[
            *common_options(),
            *(as_click(option) for option in prompt_options()),
            click.Option(["--tokens"], is_flag=True),
            click.Option(["--plain"], is_flag=True),
            click.Option(["--json"], is_flag=True),
            click.Option(["--tools"]),
            click.Argument(["words"], nargs=-1),
        ],
        add_help_option=False,
    )


async def _show(params: dict[str, Any], host: PluginHost) -> None:
    tools = params["tools"]
    names = None if tools is None else [name for name in map(str.strip, tools.split(",")) if name]
    async with session_to_look_at(host, parsed_prompt_options(params), names) as session:
        prompt = await session.system_prompts.build()
        changing = list(dict.fromkeys(each.plugin for each in session.hooks.implementations("before_agent_start")))
    if params["plain"]:
        print_lines(*prompt.text.split("\n"))
    elif params["json"]:
        plain = [_plain(part) for part in prompt.parts]
        print_json(plain)
    else:
        lines = _table(prompt.parts) if params["tokens"] else _text(prompt.parts)
        print_lines(*lines, *_sum(prompt.parts, changing))


def _plain(part: PromptPart) -> dict[str, Any]:
    """Return a part as ``--json`` prints it."""
    return {
        "section": part.section,
        "source": part.source,
        "plugin": part.plugin,
        "hook": part.hook,
        "tokens": part.tokens,
        "text": part.text,
    }


def _text(parts: Sequence[PromptPart]) -> Iterator[str]:
    for part in parts:
        yield f"# {part.section}: {_origin(part)}, {_tokens(part.tokens)}"
        yield from clean_text(part.text).strip("\n").split("\n")
        yield ""


def _table(parts: Sequence[PromptPart]) -> Iterator[str]:
    name_width = max((len(part.section) for part in parts), default=0)
    number_width = max((len(str(part.tokens)) for part in parts), default=0)
    for part in parts:
        yield f"{part.tokens:>{number_width}}  {part.section:<{name_width}}  {_origin(part)}"


def _sum(parts: Sequence[PromptPart], changing: Sequence[str]) -> Iterator[str]:
    yield f"{_tokens(sum(part.tokens for part in parts))} in all"
    if changing:
        yield one_line(f"Before each run these plugins may change it (before_agent_start): {', '.join(changing)}")


def _origin(part: PromptPart) -> str:
    """Return the origin of a part."""
    by = f"plugin {part.plugin} ({part.hook})" if part.plugin is not None else part.hook
    by = {"core": "pi", "register_tools": "a tool of the program"}.get(by, by)
    return one_line(by if part.source is None else f"{part.source}, by {by}")


def _tokens(number: int) -> str:
    return f"about {number} token{'' if number == 1 else 's'}"
