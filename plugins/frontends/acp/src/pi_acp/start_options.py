"""The options of ``pi acp``: what the sessions of an editor have in common, given before or after the word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import Factory, frozen

from pi_hookspecs import THINKING_LEVELS, UnknownName, WrongUse
from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pi_core import PluginHost
    from pi_hookspecs import ThinkingLevel

__all__ = ["StartOptions", "read_options"]

_NAMES = {
    "--model": "model",
    "--provider": "provider",
    "--thinking": "thinking",
    "--tools": "tools",
    "-t": "tools",
    "--exclude-tools": "exclude_tools",
    "-xt": "exclude_tools",
}
_OF_PI = {"--disable": True, "--offline": False, "--verbose": False}
"""Options that the command line has read already, each with whether it has a value."""


@frozen(kw_only=True, eq=False, repr=False)
class StartOptions(Value):
    """What new sessions use; a stored session keeps its own model and level.

    Attributes:
        model: A model name, in the syntax of ``--model``.
        thinking: The reasoning effort.
        tools: The offered tools, in the syntax of ``--tools``.
        flags: Values of plugins' options.
    """

    model: str | None = None
    provider: str | None = None
    thinking: ThinkingLevel | None = None
    tools: tuple[str, ...] | None = None
    exclude_tools: tuple[str, ...] = ()
    flags: dict[str, bool | str | None] = Factory(dict)


def read_options(arguments: Sequence[str], host: PluginHost) -> StartOptions:
    """Return the options of a command line.

    Raises:
        UnknownName: An option does not exist.
        WrongUse: An option has no value, or an invalid one, or there is an argument that is no option.
    """
    records = host.registering("register_flags")
    kinds: dict[str, dict[str, Any]] = {
        flag["name"]: flag for record in records for flag in record.registers["register_flags"]
    }
    given: dict[str, str] = {}
    flags: dict[str, bool | str | None] = {name: flag["default"] for name, flag in kinds.items()}
    rest = iter(arguments)
    for argument in rest:
        name, equals, text = argument.partition("=")
        value = text if equals else None
        if name in _OF_PI:
            if _OF_PI[name]:
                _value(name, value, rest)
        elif name in _NAMES:
            given[_NAMES[name]] = _value(name, value, rest)
        elif name.removeprefix("--") in kinds and name.startswith("--"):
            is_switch = kinds[name[2:]]["type"] == "boolean"
            flags[name[2:]] = True if is_switch else _value(name, value, rest)
        elif name.startswith("-"):
            known = [*_NAMES, *_OF_PI, *(f"--{each}" for each in kinds)]
            raise UnknownName("option of pi acp", name, known, "See pi acp --help")
        else:
            raise WrongUse(f"'pi acp' takes options only, not {argument!r}. See pi acp --help")
    level = next((each for each in THINKING_LEVELS if each == given.get("thinking")), None)
    if level is None and "thinking" in given:
        raise WrongUse(f"--thinking must be one of {', '.join(THINKING_LEVELS)}, not {given['thinking']!r}")
    return StartOptions(
        model=given.get("model"),
        provider=given.get("provider"),
        thinking=level,
        tools=_items(given["tools"]) if "tools" in given else None,
        exclude_tools=_items(given.get("exclude_tools", "")),
        flags=flags,
    )


def _value(name: str, value: str | None, rest: Iterator[str]) -> str:
    found = next(rest, "") if value is None else value
    if not found.strip():
        raise WrongUse(f"Option {name!r} requires a value. See pi acp --help")
    return found


def _items(text: str) -> tuple[str, ...]:
    return tuple(item for item in map(str.strip, text.split(",")) if item)
