"""The resource kind of MEMORY.md; its data is the whole text."""

from __future__ import annotations

from os.path import lexists
from typing import TYPE_CHECKING

import pi_hookspecs
from pi_hookspecs import ResourceKind
from pi_memory.places import NAME, project_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pi_hookspecs import ResourceContent, ResourceFile, ResourceProblem, ResourceRequest, ResourceScope

__all__ = ["MAX_BYTES", "memory_kind"]

MAX_BYTES = 32_768
"""Largest memory: it is sent with every request. A larger file is left out, with a notice of its size."""


def memory_kind() -> ResourceKind:
    """Return the kind."""
    return ResourceKind("memory", read=_read, find=_find, unique=False, keep=False, max_bytes=MAX_BYTES)


def _find(request: ResourceRequest) -> Iterator[ResourceFile | ResourceProblem]:
    """Yield the user's file, then the project's, where it is trusted."""
    if (request.agent_dir / NAME).is_file():
        yield _file(request.agent_dir / NAME, "user")
    if not request.project_trusted:
        if not request.trust_decided and lexists(request.cwd / NAME):
            message = "is not used: the project is not trusted. Run pi trust, or add --approve"
            yield pi_hookspecs.ResourceProblem(path=str(request.cwd / NAME), message=message)
        return
    file = project_file(request.cwd)
    if file is None:
        yield pi_hookspecs.ResourceProblem(
            path=str(request.cwd / NAME), message="is a link out of the project; it is not used"
        )
    elif file.is_file():
        yield _file(file, "project")


def _file(path: Path, scope: ResourceScope) -> ResourceFile:
    return pi_hookspecs.ResourceFile(path=str(path), scope=scope, source="auto", base_dir=str(path.parent))


def _read(_file: ResourceFile, text: str) -> ResourceContent:
    from pi_memory.document import entries  # most sessions have no memory to read

    count = len(entries(text))
    return pi_hookspecs.ResourceContent(
        name=NAME, description=f"{count} {'entry' if count == 1 else 'entries'}", data={"text": text}
    )
