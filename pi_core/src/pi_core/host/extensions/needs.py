"""Reads the requirements of local extensions, from the block of a file or from the table of a project."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import UserError

if TYPE_CHECKING:
    from pathlib import Path

    from pi_core.host.extensions.projects import ProjectPlugin

__all__ = ["needs_of_file", "needs_of_project"]


def needs_of_file(path: Path) -> tuple[str, ...]:
    """Return the requirements in the ``# /// script`` block of a file.

    Raises:
        UserError: The file cannot be read.
    """
    from pi_core.host.extensions.script_metadata import dependencies_of

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
