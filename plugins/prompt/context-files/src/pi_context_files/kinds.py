"""The resource kinds of this plugin; the data of each is the whole text."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pi_hookspecs
from pi_context_files.discovery import context_files, named_files
from pi_hookspecs import ResourceKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import ResourceContent, ResourceFile

__all__ = ["kinds"]


def kinds() -> Sequence[ResourceKind]:
    """Return the kinds: context files, all used, and two files of which the project's overrides the user's."""
    return [
        ResourceKind("context", read=_by_path, find=context_files, unique=False, keep=False),
        ResourceKind("system", read=_by_name, find=partial(named_files, "SYSTEM.md"), overrides=True, keep=False),
        ResourceKind(
            "append-system", read=_by_name, find=partial(named_files, "APPEND_SYSTEM.md"), overrides=True, keep=False
        ),
    ]


def _by_path(file: ResourceFile, text: str) -> ResourceContent:
    return _content(file.path, file, text)


def _by_name(file: ResourceFile, text: str) -> ResourceContent:
    from os.path import basename

    return _content(basename(file.path), file, text)


def _content(name: str, file: ResourceFile, text: str) -> ResourceContent:
    from pi_context_files.invisible import invisible_problem

    problem = invisible_problem(file.path, text)
    return pi_hookspecs.ResourceContent(
        name=name, data={"text": text}, problems=(problem,) if problem is not None else ()
    )
