"""The configuration that replaces a repository's own wherever that names a program.

A key such as ``filter.NAME.clean`` has a name that only the repository knows, so its configuration is listed before
each command, and every key of it that names a program is overridden: by the user's own value, or by one that starts
nothing. What the user has configured for all repositories, such as the filters of git-lfs, is the user's own and holds.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["options", "overrides_of"]

_ALWAYS = {
    "advice.detachedHead": "false",
    "color.ui": "false",
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.quotePath": "false",
    "core.safecrlf": "false",
    "diff.mnemonicPrefix": "false",
    "diff.noprefix": "false",
    "fetch.recurseSubmodules": "false",
    "gc.auto": "0",
    "log.showSignature": "false",
    "maintenance.auto": "false",
    "protocol.ext.allow": "never",
    "safe.bareRepository": "explicit",
    "submodule.recurse": "false",
}
"""Settings of every command: no hooks, no monitor, no work in the background, and patches that ``git apply`` reads."""

_MERGE = "git merge-file --marker-size=%L %A %O %B"
"""A merge driver that merges as git does without one."""

_NEUTRAL = {
    "clean": "",
    "smudge": "",
    "process": "",
    "required": "false",
    "driver": _MERGE,
    "helper": "",
    "askpass": "",
    "enabled": "false",
    "fsmonitor": "false",
    "hookspath": os.devnull,
    "sshcommand": "ssh",
    "pager": "cat",
    "editor": ":",
}
"""Values that start nothing, by the last part of a key; that of the others is ``_NOTHING``."""
_NOTHING = "true"

_PROGRAM = re.compile(
    r"core\.(?:alternaterefscommand|askpass|editor|fsmonitor|gitproxy|hookspath|pager|sshcommand)"
    r"|credential\.(?:.*\.)?helper"
    r"|diff\.external|diff\..*\.(?:command|textconv)"
    r"|filter\..*\.(?:clean|smudge|process|required)"
    r"|gpg\.(?:.*\.)?(?:program|defaultkeycommand)"
    r"|hook\..*\.(?:command|enabled)"
    r"|interactive\.difffilter"
    r"|lfs\.(?:.*\.)?standalonetransferagent|lfs\.customtransfer\..*\.(?:path|args)"
    r"|lfs\.extension\..*\.(?:clean|smudge)"
    r"|merge\..*\.driver"
    r"|pager\..*"
    r"|remote\..*\.(?:proxy|receivepack|uploadpack|vcs)"
    r"|sequence\.editor"
    r"|uploadpack\.packobjectshook"
    r"|.*\.(?:cmd|command|program|sshcommand|textconv|askpass)",
    re.DOTALL,
)
"""Keys that name programs, and ``required``, which would refuse a filter that was taken away."""


def options(settings: Mapping[str, str] | None = None) -> list[str]:
    """Return the options of git that set the settings of every command, and of others in addition."""
    pairs = {**(settings or {}), **_ALWAYS}.items()
    return ["--no-pager", *(part for key, value in pairs for part in ("-c", f"{key}={value}"))]


def overrides_of(listing: bytes) -> dict[str, str]:
    """Return the settings that replace those of a repository that name programs.

    Args:
        listing: The output of ``git config --list --show-scope --includes -z``.
    """
    own: dict[str, str] = {}
    theirs: dict[str, None] = {}
    for scope, key, value in _entries(listing):
        if not _PROGRAM.fullmatch(key.lower()):
            continue
        if scope in ("system", "global"):
            own[key] = value
        elif scope != "command":
            theirs[key] = None
    always = {key.lower() for key in _ALWAYS}
    return {key: own.get(key, _neutral(key)) for key in theirs if key not in always}


def _entries(listing: bytes) -> Iterator[tuple[str, str, str]]:
    parts = iter(listing.split(b"\0"))
    for scope, entry in zip(parts, parts, strict=False):
        key, _, value = entry.partition(b"\n")
        yield scope.decode(), os.fsdecode(key), os.fsdecode(value)


def _neutral(key: str) -> str:
    return _NEUTRAL.get(key.lower().rpartition(".")[2], _NOTHING)
