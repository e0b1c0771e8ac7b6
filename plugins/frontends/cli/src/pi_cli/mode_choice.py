"""Which front ends a run may start, best first: the one that ``--mode`` names, else the interactive ones."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from pi_hookspecs import UnknownName, UserError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_cli.options import Options
    from pi_core import PluginHost
    from pi_hookspecs import Mode

__all__ = ["has_terminal", "interactive_modes", "named_mode"]

_HOOK = "register_modes"

_LINE = "line"


def has_terminal() -> bool:
    """Whether both stdin and stdout are terminals."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


def named_mode(host: PluginHost, name: str) -> Mode:
    """Return the front end of a name.

    Raises:
        UnknownName: There is none.
        UserError: It needs a terminal, and there is none.
    """
    from pi_cli.registrations import register_modes

    found = host.find(_HOOK, name)
    mode: Mode | None = found.thing if found is not None else None
    own = {each.name: each for each in register_modes()}  # available even if this plugin is disabled
    if mode is None and name not in own:
        known = {"text", *own} | {each for record in host.records.values() for each in record.names(_HOOK)}
        raise UnknownName("mode", name, known, f"Use one of {', '.join(sorted(known))}")
    mode = mode or own[name]
    if mode.needs_tty and not has_terminal():
        stream = "stdin" if sys.stdin is None or not sys.stdin.isatty() else "stdout"
        raise UserError(f"Mode {name!r} needs a terminal, and {stream} is not one. Use -p, which prints the answer")
    return mode


def interactive_modes(host: PluginHost, options: Options) -> Iterator[Mode]:
    """Yield the interactive front ends that can be loaded: the chosen one, then by priority, the later of equals first.

    ``--tui-mode`` chooses one, else the setting ``tuiMode``.

    Raises:
        UserError: No interactive front end has that name.
    """
    known: list[tuple[Any, ...]] = [
        (described["priority"], place, described["name"])
        for place, record in enumerate(host.registering(_HOOK))
        for described in record.registers[_HOOK]
        if described["interactive"]
    ]
    names = [name for _, _, name in sorted(known, reverse=True)]
    if not names:
        return
    wanted = _wanted(host, options, names)
    for name in dict.fromkeys([*([wanted] if wanted is not None else []), *names]):
        found = host.find(_HOOK, name)
        if found is not None:
            yield found.thing


def _wanted(host: PluginHost, options: Options, names: list[str]) -> str | None:
    """Return the name of the chosen front end; None for the first one."""
    wanted = options.tui_mode or host.settings.get_str("tuiMode", None)
    if wanted is None or wanted == "fullscreen":
        return None
    name = _LINE if wanted == "regular" else wanted
    if name in names:
        return name
    if wanted == "regular":
        return None  # the line mode is disabled; there is nothing nearer
    place = "--tui-mode" if options.tui_mode else host.settings.place("tuiMode")
    known = ", ".join(dict.fromkeys(["fullscreen", "regular", *names]))
    raise UserError(f"{place}: no interactive front end is named {wanted!r}. Use one of {known}")
