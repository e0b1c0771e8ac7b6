"""Checks an extension for its author: loads it in a process of its own, and says what it registers."""

from __future__ import annotations

import json
import subprocess
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pi_hookspecs import UserError

if TYPE_CHECKING:
    from pi_hookspecs import PluginManifest

__all__ = ["check_extension"]

_SECONDS = 30
_KEYS = ("name", "key", "id", "type")
"""What identifies the things that an extension registers, whichever of them there is."""


def check_extension(manifest: PluginManifest) -> list[tuple[str, str]]:
    """Return what is wrong with an extension and what it registers: pairs of a level and a sentence.

    Raises:
        UserError: Node.js cannot be started.
    """
    plugins = [{"name": manifest.name, "file": str(manifest.entry)}]
    start = {**(manifest.options or {}), "type": "start", "plugins": plugins, "agentDir": str(manifest.agent_dir)}
    try:
        line = _first_line(manifest, json.dumps(start).encode() + b"\n")
    except OSError as error:
        raise UserError(f"{manifest.command[0]} cannot be started: {error.strerror}") from error
    try:
        found = json.loads(line)["plugins"][manifest.name]
    except (ValueError, LookupError, TypeError):
        return [("error", f"it ended the process that loaded it, or was not loaded within {_SECONDS} s")]
    if "error" in found:
        return [("error", f"it cannot be loaded: {found['error']['message']}")]
    return [*_ignored(found), *_registered(found)]


def _first_line(manifest: PluginManifest, start: bytes) -> bytes:
    """Return the first message of the process, which is ended then; empty if it ends before, or takes too long."""
    with subprocess.Popen(  # noqa: S603 - the extension that its author asked to check
        manifest.command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=manifest.folder,
    ) as child:
        assert child.stdin is not None  # noqa: S101 - it is started with these pipes
        assert child.stdout is not None  # noqa: S101 - as above
        timer = threading.Timer(_SECONDS, child.kill)
        timer.start()
        try:
            with suppress(BrokenPipeError):
                child.stdin.write(start)
                child.stdin.flush()
            return child.stdout.readline()
        finally:
            timer.cancel()
            child.kill()


def _ignored(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        ("warning", f"it handles the event {each!r}, which is never emitted here") for each in found.get("ignored", ())
    ]


def _registered(found: dict[str, Any]) -> list[tuple[str, str]]:
    lists = {"events": list(found["hooks"])}
    for kind, things in found["registers"].items():
        lists[kind] = [str(next(each[key] for key in _KEYS if key in each)) for each in things]
    return [("note", f"{kind}: {', '.join(names)}") for kind, names in lists.items() if names]
