"""The folders that contain agent files: pi's and Claude Code's, the project's folders before the user's."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pi_hookspecs
from pi_core import expand_home
from pi_hookspecs import ResourceKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_hookspecs import ResourceContent, ResourceFile, ResourceRequest, ResourceScope

__all__ = ["KIND", "agent_kind", "folders"]

KIND = "task-agent"

_DEEPEST = 4
"""Levels of subfolders that are searched."""


def agent_kind() -> ResourceKind:
    """Return the kind; if two files have the same name, the first is used: a project may replace a user's agent."""
    return ResourceKind(KIND, read=_read, find=_find, overrides=True)


def folders(cwd: Path, agent_dir: Path, *, trusted: bool) -> list[tuple[Path, ResourceScope]]:
    """Return the folders for agent files in order of precedence; a project's folders only if the project is trusted."""
    project: list[tuple[Path, ResourceScope]] = [
        (cwd / ".pi" / "agents", "project"),
        (cwd / ".claude" / "agents", "project"),
    ]
    home = expand_home("~/.claude/agents")
    user: list[tuple[Path, ResourceScope]] = [(agent_dir / "agents", "user"), (home, "user")]
    return list({path: (path, scope) for path, scope in [*(project if trusted else ()), *user]}.values())


def _find(request: ResourceRequest) -> Iterator[ResourceFile]:
    for folder, scope in folders(request.cwd, request.agent_dir, trusted=request.project_trusted):
        for path in _markdown_files(folder):
            yield pi_hookspecs.ResourceFile(path=path, scope=scope, source="auto", base_dir=str(folder))


def _markdown_files(folder: Path) -> Iterator[str]:
    for parent, below, names in os.walk(folder):
        depth = len(Path(parent).relative_to(folder).parts)
        below[:] = sorted(name for name in below if not name.startswith(".")) if depth < _DEEPEST else []
        yield from (os.path.join(parent, name) for name in sorted(names) if name.endswith(".md"))  # noqa: PTH118


def _read(file: ResourceFile, text: str) -> ResourceContent:
    from pi_agents.agent_file import read_agent  # sessions without agent files do not need the reader

    return read_agent(file, text)
