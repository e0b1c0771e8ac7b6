"""Claude Code: ``~/.claude`` and a project's ``.claude``, ``CLAUDE.md`` and ``.mcp.json``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_core import expand_home
from pi_import.commands import markdown_commands
from pi_import.hook_files import take_hooks
from pi_import.instructions import as_it_is, nested_left_out, take_file
from pi_import.models import take_key, take_level, take_variables
from pi_import.permissions import claude_rules, take_rules
from pi_import.skills import agents_as_they_are, take_rules_for_paths, take_skills
from pi_import.steps import left_out, others_left_out

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pi_import.models import Models
    from pi_import.place import Place
    from pi_import.sessions.transcript import Stored
    from pi_import.steps import Step

__all__ = ["MCP", "PROJECT", "PROJECT_SESSIONS", "sessions", "steps"]

PROJECT = (
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/commands",
    ".claude/skills",
    ".claude/agents",
    ".claude/rules",
    ".claude/CLAUDE.md",
    ".mcp.json",
)
MCP = "claude"
PROJECT_SESSIONS = False

_ALIASES = {
    "opus": "anthropic/opus",
    "sonnet": "anthropic/sonnet",
    "haiku": "anthropic/haiku",
    "opusplan": "anthropic/opus",
    "default": "",
}
_TAKEN = [
    "permissions",
    "hooks",
    "disableAllHooks",
    "model",
    "effortLevel",
    "env",
    "enabledMcpjsonServers",
    "enableAllProjectMcpServers",
    "disabledMcpjsonServers",
]
"""Keys of ``settings.json`` that other steps are about."""
_UNUSED = {
    "statusLine": "pi's footer is drawn by plugins, see examples",
    "outputStyle": "APPEND_SYSTEM.md changes how pi answers",
    "enabledPlugins": "plugins of Claude Code have a different format; their skills and commands can be copied",
    "extraKnownMarketplaces": "pi installs packages with pi install",
    "sandbox": "pi has its own sandbox: pi help sandbox",
    "apiKeyHelper": 'write it as the key of the provider in models.json: {"apiKey": "!command"}',
    "includeCoAuthoredBy": "pi makes no commits by itself",
    "attribution": "pi makes no commits by itself",
    "forceLoginMethod": "pi auth login asks how to sign in",
}


def steps(place: Place, models: Models) -> Iterator[Step]:
    """Yield the steps for a place, without its MCP servers and sessions."""
    folder = _folder(place)
    yield from _instructions(place, folder)
    yield from markdown_commands(place, folder / "commands")
    yield from agents_as_they_are(place, folder / "agents")
    yield from take_skills(place, folder / "skills")
    for name in ("settings.json", "settings.local.json"):
        file = folder / name
        yield from _settings(place, place.object_of(file), place.label(file), models)
    if (folder / "output-styles").is_dir():
        why = "pi has no output styles; APPEND_SYSTEM.md changes how it answers"
        yield left_out("instructions", "output-styles", place.label(folder / "output-styles"), why, scope=place.scope)
    if place.scope == "user" and (folder / ".credentials.json").is_file():
        yield take_key(place, ".credentials.json", "anthropic", place.label(folder / ".credentials.json"))


def _folder(place: Place) -> Path:
    configured = place.environ.get("CLAUDE_CONFIG_DIR")
    return expand_home(configured) if configured and place.scope == "user" else place.root / ".claude"


def _instructions(place: Place, folder: Path) -> Iterator[Step]:
    if place.scope == "user":
        yield from take_file(place, folder / "CLAUDE.md", imports=True)
        yield from take_rules_for_paths(place, folder / "rules")
        return
    other = next((name for name in ("AGENTS.override.md", "AGENTS.md") if (place.root / name).is_file()), None)
    why = f"pi reads {other} instead; import it there with the words of CLAUDE.md, or remove one" if other else ""
    yield from as_it_is(place, place.root / "CLAUDE.md", why=why)
    yield from take_file(place, folder / "CLAUDE.md", imports=True)
    yield from as_it_is(place, place.root / "CLAUDE.local.md")
    yield from take_rules_for_paths(place, folder / "rules")
    yield from nested_left_out(place, ("CLAUDE.md",))


def _settings(place: Place, settings: dict[str, Any], source: str, models: Models) -> Iterator[Step]:
    yield from take_rules(place, claude_rules(settings.get("permissions"), source))
    permissions = settings.get("permissions")
    for key in ("defaultMode", "additionalDirectories", "disableBypassPermissionsMode"):
        if isinstance(permissions, dict) and permissions.get(key):
            value = permissions[key]
            shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            yield left_out("permission", f"{key} {shown:.80}", source, _MODES.get(key, ""), scope=place.scope)
    if settings.get("disableAllHooks") is True:
        yield left_out("hook", "all hooks", source, "disableAllHooks is true", scope=place.scope)
    else:
        yield from take_hooks(place, settings.get("hooks"), source)
    model = settings.get("model")
    if isinstance(model, str):
        name = _ALIASES.get(model.removesuffix("[1m]"), model.removesuffix("[1m]"))
        provider = None if "/" in name else "anthropic"
        yield from models.take(place, name, source, provider=provider, alias=model)
    yield from take_level(place, settings.get("effortLevel"), source)
    variables = settings.get("env")
    yield from take_variables(place, variables if isinstance(variables, dict) else {}, source)
    off = settings.get("disabledMcpjsonServers")
    for name in off if isinstance(off, list) else ():
        why = f"it is disabled there: pi mcp disable {name} -l disables it here, too"
        yield left_out("mcp", str(name), source, why, scope=place.scope)
    for key, why in _UNUSED.items():
        if settings.get(key):
            yield left_out("setting", key, source, why, scope=place.scope)
    yield from others_left_out(place, settings, source, {*_TAKEN, *_UNUSED})


_MODES = {
    "defaultMode": "pi has no permission modes; guardrails decide what is asked about",
    "additionalDirectories": "pi reads everywhere; guardrails ask before it writes outside the working directory",
    "disableBypassPermissionsMode": "pi has no such mode",
}


def sessions(home: Path, cwd: Path | None, environ: dict[str, str]) -> Iterator[Stored]:
    """Yield the stored sessions."""
    from pi_import.sessions.claude import stored

    configured = environ.get("CLAUDE_CONFIG_DIR")
    yield from stored(expand_home(configured) if configured else home / ".claude", cwd)
