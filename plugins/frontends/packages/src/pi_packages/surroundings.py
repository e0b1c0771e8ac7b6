"""The checks of ``pi doctor`` beyond packages: models and keys, settings, and programs that tools start."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

from pi_core import expand_home, home_dir
from pi_core.host.extensions.places import find_extensions
from pi_core.host.extras import missing_extras
from pi_core.host.installers import find_program
from pi_hookspecs import NoModel, UserError
from pi_packages.checks import check_row, object_in

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pi_core import PluginHost
    from pi_packages.checks import Row

__all__ = ["surroundings"]

_OTHER_AGENTS: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "claude": (
        "Claude Code",
        (
            "~/.claude/settings.json",
            "~/.claude/CLAUDE.md",
            "~/.claude/commands",
            "~/.claude/skills",
            "~/.claude/projects",
        ),
        (".claude/settings.json", ".claude/settings.local.json", ".claude/commands", ".claude/skills"),
    ),
    "codex": (
        "codex",
        ("~/.codex/config.toml", "~/.codex/AGENTS.md", "~/.codex/prompts", "~/.codex/sessions"),
        (".codex",),
    ),
    "opencode": ("opencode", ("~/.config/opencode",), ("opencode.json", "opencode.jsonc", ".opencode")),
    "gemini": (
        "Gemini CLI",
        ("~/.gemini/settings.json", "~/.gemini/GEMINI.md", "~/.gemini/commands"),
        ("GEMINI.md", ".gemini"),
    ),
    "aider": ("aider", ("~/.aider.conf.yml",), (".aider.conf.yml",)),
}
"""Other agents by their names for ``pi import``: what they are called, their files of the user, and of a project."""

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
    yield from _languages(host)
    yield from _of_the_original(host)
    yield from _of_other_agents(host.settings.agent_dir, host.settings.project_trust.cwd)


def _settings(host: PluginHost) -> Iterator[Row]:
    for problem in host.settings.problems:
        yield check_row("settings", "warning", problem, "Correct the file; pi config schema has what is allowed")


def _models(host: PluginHost) -> Iterator[Row]:
    from pi_core import ModelRegistry, register_providers

    models = ModelRegistry(host, host.settings, os.environ)
    register_providers(host, models)
    servers = [info for info in asyncio.run(models.discover()) if info.models]
    for problem in models.warnings:
        yield check_row("models", "warning", problem, "Correct models.json; pi help models describes it")
    try:
        model = models.choose()
    except NoModel:
        local = f"; a server on this machine has {servers[0].id}/{servers[0].models[0].id}" if servers else ""
        remedy = "pi auth login, or set a provider's key: pi help keys"
        yield check_row("models", "warning", f"no provider has a key or a login{local}", remedy)
    except UserError as error:
        yield check_row("models", "error", str(error), "pi config set defaultModel ID, or pi config unset defaultModel")
    else:
        if models.is_configured(model.provider):
            yield check_row("models", "ok", f"{model.reference} is used where none is named")
        else:
            remedy = f"pi auth login {model.provider}, or set its key: pi help keys"
            yield check_row(
                "models", "warning", f"{model.reference} is the default, and its provider has no key", remedy
            )


def _programs(host: PluginHost) -> Iterator[Row]:
    for name, remedy in _PROGRAMS.items():
        if find_program(name, os.environ) is None and not (name == "bash" and host.settings.get("shellPath")):
            yield check_row("programs", "warning", f"{name} is not on PATH", remedy)


def _extras(host: PluginHost) -> Iterator[Row]:
    for message, remedy in missing_extras(host, host.settings.project_trust.cwd):
        yield check_row("extras", "warning", message, remedy)


def _languages(host: PluginHost) -> Iterator[Row]:
    """Let plugins that run extensions in other languages say what these need, where there are any."""
    sources, _ = find_extensions(host.settings.project_trust.cwd, host.settings, [], discover=True)
    scripts = [each.script for each in sources if each.script is not None]
    for language in host.services("ExtensionLanguage") if scripts else ():
        for state, message, remedy in getattr(language.thing, "diagnose", lambda *_: ())(scripts, host.settings):
            yield check_row(f"plugin {language.plugin}", state, message, remedy)


def _of_the_original(host: PluginHost) -> Iterator[Row]:
    from pi_packages.original import is_of_the_original

    if is_of_the_original(host):
        remedy = "pi doctor --original says which of them have no effect here"
        yield check_row(
            "original", "note", "the settings are those of the original pi, which reads the same files", remedy
        )


def _of_other_agents(agent_dir: Path, cwd: Path) -> Iterator[Row]:
    """Name the files of other agents that were not imported yet."""
    imported = object_in(agent_dir / "imports.json")
    for name, (title, own, project) in _OTHER_AGENTS.items():
        done = imported.get(name)
        done = done if isinstance(done, list) else []
        found = [] if "user" in done else [file for file in own if expand_home(file).exists()]
        if str(cwd) not in done and cwd != home_dir().resolve():
            found += [file for file in project if (cwd / file).exists()]
        if found:
            message = f"there are files of {title}: {', '.join(found)}"
            remedy = f"pi import {name} --dry-run lists what pi would import"
            yield check_row("other agents", "note", message, remedy)
