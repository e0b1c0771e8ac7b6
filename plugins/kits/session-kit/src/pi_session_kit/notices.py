"""Notices for the user about the lines of a session that could not be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_session_kit.lines import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_session_kit.lines import Lines

__all__ = ["damage_recorder", "notices_of"]

_SHOWN = 3
"""Damaged lines that are reported one by one."""


def damage_recorder(name: str, notices: list[str], fsck: str) -> Callable[[int, str], None]:
    """Return a callback that records damage found on access: each line once, and at most a few.

    Args:
        name: The session, as notices name it.
        notices: Gets the notices.
        fsck: How all damaged lines can be listed, in words that follow a semicolon.
    """
    reported: set[int] = set()

    def record(line: int, reason: str) -> None:
        if line in reported or len(reported) > _SHOWN:
            return
        reported.add(line)
        notices.append(
            f"Line {line} of {name} was left out: {reason}."
            if len(reported) <= _SHOWN
            else f"More lines of {name} were left out; {fsck}."
        )

    return record


def notices_of(name: str, lines: Lines, fsck: str) -> list[str]:
    """Return the notices for the user about the lines of an opened session; arguments as of ``damage_recorder``."""
    notices = [
        f"Line {lines.number_of(damage.start)} of {name} was left out: {damage.reason}."
        for damage in lines.damage[:_SHOWN]
    ]
    if len(lines.damage) > _SHOWN:
        notices.append(f"{len(lines.damage) - _SHOWN} more lines of {name} were left out; {fsck}.")
    if lines.torn is not None:
        notices.append(f"The last line of {name} was not completely written and was left out; it stays in the file.")
    if lines.version > VERSION:
        notices.append(
            f"{name} was written by a newer pi (version {lines.version}); what is new in it is kept, not used."
        )
    return notices
