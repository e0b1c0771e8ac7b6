"""The checks of ``pi doctor`` beyond packages: models and keys, settings, and programs that tools start."""

from __future__ import annotations

import asyncio
import json
import os
from typing import TYPE_CHECKING, Any

from pi_core.host.extras import missing_extras
from pi_core.host.installers import find_program
from pi_hookspecs import NoModel, UserError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pi_core.host import PluginHost

__all__ = ["surroundings"]

Row = dict[str, Any]

_OF_CLAUDE_CODE = ("CLAUDE.local.md", ".claude/commands", ".claude/rules", ".claude/skills", ".claude/output-styles")

_PROGRAMS = {
    "bash": "The tool bash and commands after ! need a shell: install bash, or set shellPath",
    "git": "Rewind, worktrees and packages from repositories need it: install git",
}


def surroundings(host: PluginHost) -> Iterator[Row]:
    """Yield rows as ``pi_packages.doctor.checks`` does."""
    yield from _settings(host)
    yield from _models(host)
    yield from _programs(host)
    yield from _extras(host)
    yield from _of_claude_code(host.settings.project_trust.cwd)


def _settings(host: PluginHost) -> Iterator[Row]:
    for problem in host.settings.problems:
        yield _row("settings", "warning", problem, "Correct the file; pi config schema has what is allowed")


def _models(host: PluginHost) -> Iterator[Row]:
    from pi_core.models.registry import ModelRegistry
    from pi_core.plugin_api.activation import register_providers

    models = ModelRegistry(host, host.settings, os.environ)
    register_providers(host, models)
    servers = [info for info in asyncio.run(models.discover()) if info.models]
    for problem in models.warnings:
        yield _row("models", "warning", problem, "Correct models.json; pi help models describes it")
    try:
        model = models.choose()
    except NoModel:
        local = f"; a server on this machine has {servers[0].id}/{servers[0].models[0].id}" if servers else ""
        remedy = "pi auth login, or set a provider's key: pi help keys"
        yield _row("models", "warning", f"no provider has a key or a login{local}", remedy)
    except UserError as error:
        yield _row("models", "error", str(error), "pi config set defaultModel ID, or pi config unset defaultModel")
    else:
        yield _row("models", "ok", f"{model.reference} is used where none is named")


def _programs(host: PluginHost) -> Iterator[Row]:
    for name, remedy in _PROGRAMS.items():
        if find_program(name, os.environ) is None and not (name == "bash" and host.settings.get("shellPath")):
            yield _row("programs", "warning", f"{name} is not on PATH", remedy)


def _extras(host: PluginHost) -> Iterator[Row]:
    for message, remedy in missing_extras(host, host.settings.project_trust.cwd):
        yield _row("extras", "warning", message, remedy)


def _of_claude_code(cwd: Path) -> Iterator[Row]:
    """Name the files of Claude Code in this folder that pi does not use."""
    unused = [name for name in _OF_CLAUDE_CODE if (cwd / name).exists()]
    for name in (".claude/settings.json", ".claude/settings.local.json"):
        keys = [key for key in ("permissions", "hooks") if key in _object(cwd / name)]
        unused += [f"{' and '.join(keys)} in {name}"] if keys else []
    if unused:
        message = f"pi does not use {', '.join(unused)}"
        remedy = "Prompts in .pi/prompts, skills in .pi/skills, and the setting guardrails take their place"
        yield _row("claude code", "note", message, remedy)


def _object(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _row(check: str, state: str, message: str, remedy: str = "") -> Row:
    return {"check": check, "state": state, "message": message, "remedy": remedy}
