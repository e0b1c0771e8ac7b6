"""Where memory is kept: MEMORY.md of the user, and of the project where that is trusted."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from pi_core import escapes_root
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from pi_hookspecs import PiContext

__all__ = ["NAME", "Scope", "exists_any", "memory_path", "project_file"]

NAME = "MEMORY.md"

Scope: TypeAlias = Literal["project", "global"]


def exists_any(ctx: PiContext) -> bool:
    """Whether there is a file, used or not."""
    return any(os.path.lexists(Path(folder, NAME)) for folder in (ctx.settings.agent_dir, ctx.cwd))


def project_file(cwd: Path) -> Path | None:
    """Return the project's file; None if it is a link out of the project, which a repository may contain."""
    file = cwd / NAME
    return None if escapes_root(file, cwd) else file


def memory_path(scope: Scope | None, ctx: PiContext) -> Path:
    """Return the file to change: the project's where it may be used, unless ``scope`` is given.

    Raises:
        UserError: The project's cannot be used.
    """
    if scope == "global" or (scope is None and not ctx.is_project_trusted()):
        return Path(ctx.settings.agent_dir, NAME)
    if not ctx.is_project_trusted():
        message = f"{ctx.cwd} is not trusted, so its {NAME} is not used. Trust it with pi trust, or use scope 'global'."
        raise UserError(message)
    file = project_file(ctx.cwd)
    if file is None:
        raise UserError(f"{ctx.cwd / NAME} is a link that leads out of the project. It was not changed.")
    return file
