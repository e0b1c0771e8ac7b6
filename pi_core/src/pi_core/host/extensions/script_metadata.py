"""Reads the block ``# /// script`` at the beginning of an extension's file, which lists requirements (PEP 723)."""

from __future__ import annotations

import re
import sys

from pi_hookspecs import UserError

__all__ = ["dependencies_of"]

_BLOCK = re.compile(r"(?m)^# /// script[ \t]*\r?$\s(?P<content>(^#(| .*)\r?$\s)+)^# ///[ \t]*\r?$")
_AT_LEAST = re.compile(r">=\s*(\d+)\.(\d+)")


def dependencies_of(source: str) -> tuple[str, ...]:
    """Return the requirements that a file names; empty without the block.

    Raises:
        UserError: The block cannot be read, or requires another version of Python.
    """
    blocks = list(_BLOCK.finditer(source))
    if not blocks:
        return ()
    if len(blocks) > 1:
        raise UserError("it has more than one '# /// script' block. Keep one")
    import tomllib

    lines = blocks[0].group("content").splitlines()
    try:
        metadata = tomllib.loads("\n".join(line[2:] if line.startswith("# ") else line[1:] for line in lines))
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"its '# /// script' block is not TOML: {error}") from error
    wanted = metadata.get("dependencies", [])
    if not isinstance(wanted, list) or not all(isinstance(each, str) and each.strip() for each in wanted):
        raise UserError(f"dependencies in its '# /// script' block must be a list of strings, not {wanted!r:.80}")
    _check_python(metadata.get("requires-python", ""))
    return tuple(each.strip() for each in wanted)


def _check_python(wanted: object) -> None:
    match = _AT_LEAST.search(wanted) if isinstance(wanted, str) else None
    if match is not None and sys.version_info < (int(match[1]), int(match[2])):
        here = ".".join(map(str, sys.version_info[:2]))
        raise UserError(f"it requires Python {wanted}, and pi runs on {here}")
