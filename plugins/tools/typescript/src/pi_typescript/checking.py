"""Checks extensions: loads one for its author, and says which Node.js and packages there are for all."""

from __future__ import annotations

import json
import re
import subprocess
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pi_hookspecs import PluginManifest, SettingsView

__all__ = ["check_extension", "diagnose"]

_SECONDS = 30
_NATIVE = (22, 15)
"""The version from which on Node.js can load TypeScript itself, as pi asks it to."""

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
    """Return the first message of the process after those that say what it loads; it is ended then.

    Empty if it ends before, or takes too long.
    """
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
            return next((line for line in child.stdout if not line.startswith(b'{"type":"loading"')), b"")
        finally:
            timer.cancel()
            child.kill()


def _ignored(found: dict[str, Any]) -> list[tuple[str, str]]:
    events = [f"it handles the event {each!r}, which is never emitted here" for each in found.get("ignored", ())]
    lacking = [f"it uses {each}, which pi does not have: it has no effect" for each in found.get("lacking", ())]
    return [("warning", each) for each in (*events, *lacking)]


def _registered(found: dict[str, Any]) -> list[tuple[str, str]]:
    lists = {"events": list(found["hooks"])}
    for kind, things in found["registers"].items():
        lists[kind] = [str(next(each[key] for key in _KEYS if key in each)) for each in things]
    return [("note", f"{kind}: {', '.join(names)}") for kind, names in lists.items() if names]


def diagnose(files: Sequence[Path], settings: SettingsView) -> list[tuple[str, str, str]]:
    """Return which Node.js runs extensions, and what is missing for these files: state, sentence, and what to do."""
    from pi_typescript.language import find_node
    from pi_typescript.packages import missing_packages, needs_packages

    try:
        node = find_node(settings)
    except UserError as error:
        return [("error", str(error), "Install Node.js 22.18 or newer")]
    version = _version(node)
    if version is None:
        return [("error", f"{node} does not report its version", "Set typescript.node to a working Node.js")]
    rows = [("ok", f"Node.js {version} ({node}) runs {len(files)} extension{'' if len(files) == 1 else 's'}", "")]
    missing = missing_packages(settings.agent_dir)
    is_native = tuple(map(int, version.split(".")[:2])) >= _NATIVE
    if "jiti" in missing and not is_native:
        remedy = "Install Node.js 22.18 or newer, or run pi install --typescript"
        rows.append(
            ("error", f"Node.js {version} cannot run TypeScript, and jiti, which can, is not installed", remedy)
        )
    if missing and any(needs_packages(each) for each in files):
        names = ", ".join(sorted(missing))
        rows.append(("warning", f"extensions import packages that are missing: {names}", "Run pi install --typescript"))
    return rows


def _version(node: str) -> str | None:
    try:
        done = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=10, check=False)  # noqa: S603 - Node.js
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = done.stdout.strip().removeprefix("v")
    return version if re.fullmatch(r"\d+\.\d+\.\d+\S*", version) else None
