"""Reads the requirements of local extensions, from a file's block ``# /// script`` (PEP 723) or a project's table."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from pi_hookspecs import UserError

if TYPE_CHECKING:
    from pathlib import Path

    from pi_core.host.extensions.projects import ProjectPlugin

__all__ = ["dependencies_of", "needs_of_file", "needs_of_project"]

_BLOCK = r"(?m)^# /// script[ \t]*\r?$\s(?P<content>(^#(| .*)\r?$\s)+)^# ///[ \t]*\r?$"
"""Compiled when a file has one."""

_AT_LEAST = r">=\s*(\d+)\.(\d+)"


def needs_of_file(path: Path) -> tuple[str, ...]:
    """Return the requirements in the ``# /// script`` block of a file.

    Raises:
        UserError: The file cannot be read.
    """
    try:
        source = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from error
    return dependencies_of(source) if "# /// script" in source else ()


def needs_of_project(plugin: ProjectPlugin) -> tuple[str, ...]:
    """Return the requirements of a project.

    Raises:
        UserError: The project requires another version of pi.
    """
    if not plugin.requires:
        return ()
    from pi_core.host.requirements import unmet_among

    unmet = unmet_among(plugin.requires, plugin.project)
    if unmet is not None:
        raise UserError(f"it {unmet}")
    return plugin.requires


def dependencies_of(source: str) -> tuple[str, ...]:
    """Return the requirements that a file names; empty without the block.

    Raises:
        UserError: The block cannot be read, or requires another version of Python.
    """
    blocks = list(re.finditer(_BLOCK, source))
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
    match = re.search(_AT_LEAST, wanted) if isinstance(wanted, str) else None
    if match is not None and sys.version_info < (int(match[1]), int(match[2])):
        here = ".".join(map(str, sys.version_info[:2]))
        raise UserError(f"it requires Python {wanted}, and pi runs on {here}")
