"""The rows above the conversation: the version, and the keys that a user needs first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import Line, Run
from pi_tui.lines.line import cells, indent
from pi_tui.lines.wrap import wrap
from pi_tui.view.clean import clean_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

__all__ = ["FIRST_HINTS", "header_hints", "header_rows", "loaded_rows"]

FIRST_HINTS: Mapping[str, str] = {
    "escape": "interrupt",
    "ctrl+c/ctrl+d": "clear/exit",
    "/": "commands",
    "!": "bash",
    "ctrl+o": "more",
}
"""The hints that are displayed before the user's own keys are known."""


_ROOMY = 60
"""Cells of a row from which on the descriptions of keys are below one another."""

_HINTS: Sequence[tuple[tuple[str, ...], str]] = (
    (("app.interrupt",), "interrupt"),
    (("app.clear", "app.exit"), "clear/exit"),
    (("/",), "commands"),
    (("!",), "bash"),
    (("app.tools.expand",), "more"),
)
_MORE: Sequence[tuple[tuple[str, ...], str]] = (
    (("app.interrupt",), "stop the answer"),
    (("app.clear",), "clear the editor; twice, exit"),
    (("app.exit",), "exit, while the editor is empty"),
    (("app.suspend",), "suspend; fg continues"),
    (("app.thinking.cycle",), "next thinking level"),
    (("app.model.cycleForward", "app.model.cycleBackward"), "next and previous model"),
    (("app.model.select",), "choose the model"),
    (("app.tools.expand",), "show results in full, or their beginnings"),
    (("app.thinking.toggle",), "show or hide thinking"),
    (("app.editor.external",), "edit the text in your own editor"),
    (("/",), "commands; /hotkeys lists all keys"),
    (("!",), "run a command; !! keeps it from the model"),
    (("@",), "name a file"),
    (("app.message.followUp",), "queue a follow-up"),
    (("app.message.dequeue",), "edit all queued messages"),
    (("app.clipboard.pasteImage",), "paste an image, or else text"),
    (("tui.altScreen.search",), "search the conversation"),
)
"""Actions, or what is typed, and their descriptions: in one row, and one in each row."""


def header_hints(keys_of: Callable[..., str], *, expanded: bool = False) -> dict[str, str]:
    """Return the description of each key, in display order.

    Args:
        keys_of: Returns the keys of actions; an empty text if they have none.
        expanded: Whether there is a row for each of them.
    """
    hints = {
        (keys_of(*actions) if "." in actions[0] else actions[0]): does
        for actions, does in (_MORE if expanded else _HINTS)
    }
    return {keys: does for keys, does in hints.items() if keys}


def loaded_rows(loaded: Iterable[tuple[str, Sequence[str]]], width: int, *, expanded: bool = False) -> list[Line]:
    """Return what the session has loaded: a paragraph for each kind, or a row for each file.

    Args:
        loaded: The kinds with their names or paths.
        width: Cells of a row.
        expanded: Whether there is a row for each of them.
    """
    inner = max(width - 1, 1)
    rows: list[Line] = []
    for title, names in loaded:
        head, texts = Run(f"[{title}]", "mdHeading"), [clean_line(name) for name in names]
        if expanded:
            rows += wrap([head], inner)
            rows += [row for text in texts for row in wrap([Run(f"  {text}", "dim")], inner)]
        else:
            rows += wrap([head, Run(f" {', '.join(texts)}", "dim")], inner)
    return indent([Line(), *rows], 1, width) if rows else []


def header_rows(version: str, hints: Mapping[str, str], width: int, *, expanded: bool = False) -> list[Line]:
    """Return the rows of the header.

    Args:
        version: The version of pi.
        hints: The description of each key, in display order.
        width: Cells of a row.
        expanded: Whether there is a row for each key.
    """
    inner = max(width - 1, 1)
    rows = wrap([Run("pi", "accent", bold=True), Run(f" v{version}", "dim")], inner)
    if expanded:
        wide = max([cells(key) for key in hints], default=0) if inner >= _ROOMY else 0
        keys = [
            wrap([Run(key, "dim"), Run(" " * max(wide - cells(key) + 1, 1)), Run(does, "muted")], inner)
            for key, does in hints.items()
        ]
        return indent([*rows, *(row for each in keys for row in each)], 1, width)
    runs: list[Run] = []
    for key, does in hints.items():
        runs += [Run(" · ", "muted")] * bool(runs) + [Run(key, "dim"), Run(f" {does}", "muted")]
    return indent([*rows, *wrap(runs, inner)], 1, width)
