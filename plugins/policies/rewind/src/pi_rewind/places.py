"""Where checkpoints are made and kept: in git repositories, elsewhere only if a setting asks for it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pi_hookspecs import PluginSetting

if TYPE_CHECKING:
    from pathlib import Path

    from pi_hookspecs import SettingsView
    from pi_rewind.checkpoints import Checkpoints

__all__ = ["LIMITED", "SETTINGS", "checkpoints_of", "why_none"]

_ENABLED = PluginSetting(
    "rewind.enabled",
    schema={"type": ["boolean", "null"], "default": None},
    description="Make checkpoints of the work tree; not set: in repositories of git",
    project="enable",
)
_INCLUDE = PluginSetting(
    "rewind.include",
    schema={"type": "array", "items": {"type": "string"}, "default": []},
    description="Patterns of files that are stored although ignored, or named like files with secrets, such as .env",
    project="nothing",
)
SETTINGS = (_ENABLED, _INCLUDE)

MOST_FILES = 20_000
MOST_BYTES = 500_000_000
"""Limits for a folder outside a repository; above them, only what pi writes is stored."""
LIMITED = (
    f"This folder is not in a git repository, and has more than {MOST_FILES:,} files or {MOST_BYTES // 1_000_000:,} MB:"
    " /rewind restores only what the tools write and edit have changed."
)


def why_none(settings: SettingsView, cwd: Path) -> str | None:
    """Return, for the user, why no checkpoints are made in a folder; None if they are."""
    enabled = settings.get_bool(_ENABLED.name, None)
    if enabled is False:
        return "Checkpoints are off (rewind.enabled)."
    if _in_repository(cwd):
        return None
    if enabled is None:
        return f'{str(cwd)!r} is not in a git repository. "rewind": {{"enabled": true}} makes checkpoints here, too.'
    return None


def checkpoints_of(settings: SettingsView, cwd: Path, session: str) -> Checkpoints:
    """Return the checkpoints of a folder. Blocks.

    Raises:
        GitFailed: git is not installed.
    """
    from pi_rewind.checkpoints import Checkpoints

    include = settings.get_str_list(_INCLUDE.name)
    return Checkpoints(settings.agent_dir / "rewind", cwd, session, include, is_too_large=_is_too_large)


def _in_repository(cwd: Path) -> bool:
    return any(os.path.lexists(folder / ".git") for folder in (cwd, *cwd.parents))


def _is_too_large(root: Path) -> bool:
    files = size = 0
    for here, _, names in os.walk(root):
        files += len(names)
        for name in names:
            try:
                size += os.lstat(os.path.join(here, name)).st_size
            except OSError:
                continue
        if files > MOST_FILES or size > MOST_BYTES:
            return True
    return False
