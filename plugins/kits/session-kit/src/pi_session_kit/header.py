"""The header of a session, from and to its line; imports little, for new sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pi_hookspecs.entries import SessionHeader
    from pi_session_kit.lines import Lines

__all__ = ["header_line", "header_of"]


def header_line(header: SessionHeader) -> bytes:
    """Return a header as pi writes it, without a newline."""
    from pi_core import dumps, to_wire

    plain: dict[str, Any] = to_wire(header)
    return dumps({key: plain[key] for key in ("type", "version", "id")} | plain)


def header_of(lines: Lines) -> SessionHeader:
    """Return the header of a session; missing fields are empty."""
    from pi_core import header_from_wire

    plain = dict(lines.header)
    for key in ("cwd", "timestamp"):
        if not isinstance(plain.get(key), str):
            plain[key] = ""
    for key in ("parentSession", "branchedFrom"):
        if not isinstance(plain.get(key), str):
            plain.pop(key, None)
    return header_from_wire({**plain, "version": lines.version})
