"""Gemini CLI: ``~/.gemini`` and a project's ``.gemini`` and ``GEMINI.md``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_core import expand_home
from pi_import.commands import toml_commands
from pi_import.hook_files import take_hooks
from pi_import.instructions import as_it_is, nested_left_out, take_file
from pi_import.models import take_key
from pi_import.permissions import gemini_rules, take_rules
from pi_import.skills import take_agents, take_skills
from pi_import.steps import left_out, others_left_out

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pi_import.models import Models
    from pi_import.place import Place
    from pi_import.sessions.transcript import Stored
    from pi_import.steps import Step

__all__ = ["MCP", "PROJECT", "PROJECT_SESSIONS", "sessions", "steps"]

PROJECT = (".gemini", "GEMINI.md")
MCP = "gemini"
PROJECT_SESSIONS = False

_TAKEN = [
    "context",
    "contextFileName",
    "mcpServers",
    "mcp",
    "model",
    "tools",
    "hooks",
    "hooksConfig",
    "excludeTools",
    "allowedTools",
    "coreTools",
]
"""Keys of ``settings.json`` that other steps are about."""
_UNUSED = {
    "general": "keys, editor and updates are set in pi's own way (pi help settings)",
    "ui": "themes and the screen are set in pi's own way (pi help themes)",
    "telemetry": "the extra otel sends spans (pi help install)",
    "experimental": "it has no counterpart",
    "advanced": "it has no counterpart",
    "ide": "pi acp runs pi inside editors",
}

_OTHER_FILES = {
    "policies": "rules of guardrails say what is refused or asked about (pi help guardrails)",
    "system.md": "SYSTEM.md replaces pi's own instructions (pi help context-files)",
}


def steps(place: Place, models: Models) -> Iterator[Step]:
    """Yield the steps for a place, without its MCP servers and sessions."""
    folder = _home(place.root, place.environ) / ".gemini" if place.scope == "user" else place.root / ".gemini"
    file = folder / "settings.json"
    settings, source = place.object_of(file), place.label(file)
    for name in _context_names(settings):
        if place.scope == "project" and name in ("AGENTS.md", "CLAUDE.md"):
            yield from as_it_is(place, place.root / name)
        else:
            yield from take_file(place, (folder if place.scope == "user" else place.root) / name, imports=True)
    yield from nested_left_out(place, ("GEMINI.md",))
    yield from toml_commands(place, folder / "commands")
    yield from take_agents(place, folder / "agents")
    yield from take_skills(place, folder / "skills")
    yield from take_rules(place, gemini_rules(settings, source))
    yield from take_hooks(place, settings.get("hooks"), source, agent="gemini")
    yield from _model(place, settings.get("model"), source, models)
    yield from _unused(place, settings, source, folder)
    for name, provider in (("oauth_creds.json", "google-gemini-cli"), (".env", "google")):
        if (place.scope == "user" or name == ".env") and (folder / name).is_file():
            yield take_key(place, name, provider, place.label(folder / name))


def _model(place: Place, model: Any, source: str, models: Models) -> Iterator[Step]:
    name = model.get("name") if isinstance(model, dict) else model
    if isinstance(name, str) and name.startswith("auto"):
        why = "pi chooses no model for each request; /model selects one"
        yield left_out("model", name, source, why, scope=place.scope)
    else:
        yield from models.take(place, name, source, provider="google")


def _unused(place: Place, settings: dict[str, Any], source: str, folder: Path) -> Iterator[Step]:
    """Yield the steps for what has no counterpart."""
    tools = settings.get("tools")
    if isinstance(tools, dict) and tools.get("sandbox"):
        why = "turn on pi's sandbox with the setting sandbox (pi help sandbox)"
        yield left_out("setting", "tools.sandbox", source, why, scope=place.scope)
    for key, why in _UNUSED.items():
        if settings.get(key):
            yield left_out("setting", key, source, why, scope=place.scope)
    yield from others_left_out(place, settings, source, {*_TAKEN, *_UNUSED})
    for name, why in _OTHER_FILES.items():
        if (folder / name).exists():
            yield left_out("setting", name, place.label(folder / name), why, scope=place.scope)
    if (folder / "extensions").is_dir():
        why = "extensions have a different format; copy their commands and servers"
        yield left_out("setting", "extensions", place.label(folder / "extensions"), why, scope=place.scope)


def _context_names(settings: dict[str, Any]) -> list[str]:
    context = settings.get("context")
    names = context.get("fileName") if isinstance(context, dict) else settings.get("contextFileName")
    found = names if isinstance(names, list) else [names]
    safe = [each for each in found if isinstance(each, str) and each and "/" not in each and "\\" not in each]
    return list(dict.fromkeys(safe)) or ["GEMINI.md"]


def sessions(home: Path, cwd: Path | None, environ: dict[str, str]) -> Iterator[Stored]:
    """Yield the stored sessions."""
    from pi_import.sessions.gemini import stored

    yield from stored(_home(home, environ) / ".gemini", cwd)


def _home(home: Path, environ: dict[str, str]) -> Path:
    """Return the folder that Gemini CLI takes for the home folder."""
    return expand_home(environ.get("GEMINI_CLI_HOME") or home)
