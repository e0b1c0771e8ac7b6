"""``/left-out``: shows what requests leave out because a provider refused it, and puts it back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pi_hookspecs import PiAPI, PiContext

__all__ = ["left_out"]

_ENTRY = "left_out"
"""Type of core's entries: a part, or ``{"putBack": [ids]}``."""


async def left_out(args: str, ctx: PiContext, pi: PiAPI) -> None:
    """Run the command: ``/left-out`` lists the parts by number, ``/left-out back [N]`` sends them again."""
    parts = _parts(ctx)
    words = args.split()
    if not parts:
        ctx.ui.notify("Nothing is left out: no provider has refused a part of this session.")
    elif not words:
        lines = [f"{number}. {data.get('what')}: {data.get('why')}" for number, data in enumerate(parts.values(), 1)]
        ctx.ui.notify("Requests leave out:\n" + "\n".join(lines) + "\n/left-out back [NUMBER] sends it again.")
    elif words[0] != "back" or (words[1:] and not _is_number(words[1:], len(parts))):
        ctx.ui.notify(f"/left-out {args} is unknown: use /left-out, or /left-out back [1 to {len(parts)}].", "error")
    else:
        ids = list(parts) if not words[1:] else [list(parts)[int(words[1]) - 1]]
        pi.append_entry(_ENTRY, {"putBack": ids})
        ctx.ui.notify(f"Sent again from now on: {', '.join(str(parts[each].get('what')) for each in ids)}.")


def _is_number(words: list[str], most: int) -> bool:
    return len(words) == 1 and words[0].isdecimal() and 1 <= int(words[0]) <= most


def _parts(ctx: PiContext) -> dict[str, dict[str, Any]]:
    """Return the data of the parts that are left out now, by the ids of their entries."""
    from pi_hookspecs import CustomEntry  # not at start-up, when the command is registered

    parts: dict[str, dict[str, Any]] = {}
    for entry in ctx.session.entries():
        if isinstance(entry, CustomEntry) and entry.custom_type == _ENTRY and isinstance(entry.data, dict):
            back = entry.data.get("putBack")
            for each in back if isinstance(back, list) else ():
                parts.pop(str(each), None)
            if isinstance(entry.data.get("kind"), str) and isinstance(entry.data.get("ids"), list):
                parts[entry.id] = entry.data
    return parts
