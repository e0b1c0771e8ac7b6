"""codex: ``~/.codex`` (``CODEX_HOME``) and a project's ``.codex``; ``AGENTS.md`` is read as it is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pi_core import expand_home
from pi_import.commands import markdown_commands
from pi_import.hook_files import take_hooks
from pi_import.instructions import as_it_is, take_file
from pi_import.models import take_headers, take_key, take_level, take_provider
from pi_import.permissions import codex_rules, take_rules
from pi_import.place import Unreadable
from pi_import.skills import take_agent, take_skills
from pi_import.steps import left_out, others_left_out

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pi_import.models import Models
    from pi_import.place import Place
    from pi_import.sessions.transcript import Stored
    from pi_import.steps import Step

__all__ = ["MCP", "PROJECT", "PROJECT_SESSIONS", "sessions", "steps"]

PROJECT = (".codex",)
MCP = "codex"
PROJECT_SESSIONS = False

_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,63}")
_BUILT_IN = {"openai": "openai", "ollama": "ollama", "lmstudio": "lmstudio", "oss": "ollama"}
_TAKEN = [
    "model",
    "model_provider",
    "model_reasoning_effort",
    "model_context_window",
    "model_providers",
    "mcp_servers",
    "hooks",
    "projects",
]
"""Keys of ``config.toml`` that other steps are about."""
_UNUSED = {
    "developer_instructions": "write them into AGENTS.md",
    "instructions": "write them into AGENTS.md",
    "model_instructions_file": "SYSTEM.md replaces pi's own instructions (pi help context-files)",
    "approval_policy": "pi runs tools without asking; guardrails ask before dangerous ones (pi help guardrails)",
    "sandbox_mode": "turn on pi's sandbox with the setting sandbox (pi help sandbox)",
    "sandbox_workspace_write": "turn on pi's sandbox with the setting sandbox (pi help sandbox)",
    "notify": "pi notifies with the settings notifications.terminal and notifications.command",
    "profiles": "pi has no profiles; --model and --thinking say it for a run",
    "profile": "pi has no profiles; --model and --thinking say it for a run",
    "agents": "write agents as files in agents (pi help agents)",
    "history": "pi keeps sessions and prompts by its own settings",
    "shell_environment_policy": "plugins change the environment of commands (child_environment)",
    "web_search": "the extra web adds fetch (pi help install)",
    "project_doc_fallback_filenames": "pi reads AGENTS.md and CLAUDE.md",
}


def steps(place: Place, models: Models) -> Iterator[Step]:
    """Yield the steps for a place, without its MCP servers and sessions."""
    folder = _folder(place)
    if place.scope == "user":
        override = folder / "AGENTS.override.md"
        yield from take_file(place, override if override.is_file() else folder / "AGENTS.md")
        yield from markdown_commands(place, folder / "prompts", named=True)
    else:
        yield from as_it_is(place, place.root / "AGENTS.override.md")
        yield from as_it_is(place, place.root / "AGENTS.md")
        yield from as_it_is(place, place.root / ".agents" / "skills", "skill")
    yield from take_skills(place, folder / "skills")
    yield from _agents(place, folder / "agents")
    yield from _config(place, folder, models)
    hooks = place.object_of(folder / "hooks.json")
    yield from take_hooks(place, hooks.get("hooks", hooks), place.label(folder / "hooks.json"))
    for file in place.files(folder / "rules", ".rules"):
        try:
            yield from take_rules(place, codex_rules(place.read(file), place.label(file)))
        except Unreadable as error:
            yield left_out("permission", file.name, place.label(file), f"it {error}", scope=place.scope)
    if place.scope == "user" and (folder / "auth.json").is_file():
        yield take_key(place, "auth.json", "openai-codex (ChatGPT) or openai", place.label(folder / "auth.json"))


def _agents(place: Place, folder: Path) -> Iterator[Step]:
    for file in place.files(folder, ".toml"):
        try:
            values = place.read_object(file)
        except Unreadable as error:
            yield left_out("agent", file.stem, place.label(file), f"it {error}", scope=place.scope)
            continue
        body = values.get("developer_instructions")
        name = str(values.get("name") or file.stem)
        yield from take_agent(place, name, values, body if isinstance(body, str) else "", place.label(file))


def _folder(place: Place) -> Path:
    configured = place.environ.get("CODEX_HOME")
    return expand_home(configured) if configured and place.scope == "user" else place.root / ".codex"


def _config(place: Place, folder: Path, models: Models) -> Iterator[Step]:
    file = folder / "config.toml"
    config, source = place.object_of(file), place.label(file)
    providers = config.get("model_providers")
    providers = providers if isinstance(providers, dict) else {}
    provider = config.get("model_provider", "openai")
    if place.scope == "user":
        for name, entry in providers.items():
            yield _provider(place, str(name), entry, config, source)
    elif providers:
        why = "models.json is yours alone; add the provider there if you want it"
        yield left_out("provider", ", ".join(map(str, providers)), source, why, scope=place.scope)
    if provider in providers and place.scope == "user":
        yield from models.take(place, config.get("model"), source, provider=str(provider), added=True)
    else:
        yield from models.take(place, config.get("model"), source, provider=_BUILT_IN.get(str(provider), str(provider)))
    yield from take_level(place, config.get("model_reasoning_effort"), source)
    yield from take_hooks(place, config.get("hooks"), source)
    for key, why in _UNUSED.items():
        if config.get(key):
            yield left_out("setting", key, source, why, scope=place.scope)
    yield from others_left_out(place, config, source, {*_TAKEN, *_UNUSED})


def _provider(place: Place, name: str, entry: Any, config: dict[str, Any], source: str) -> Step:
    if not isinstance(entry, dict) or not isinstance(entry.get("base_url"), str) or not _NAME.fullmatch(name):
        return left_out("provider", name, source, "it has no base_url, or no usable name", scope=place.scope)
    notes: list[str] = []
    api = "openai-completions" if entry.get("wire_api", "chat") == "chat" else "openai-responses"
    ours: dict[str, Any] = {"baseUrl": entry["base_url"], "api": api}
    if isinstance(entry.get("name"), str):
        ours["name"] = entry["name"]
    if isinstance(entry.get("env_key"), str) and entry["env_key"]:
        ours["apiKey"] = f"${entry['env_key']}"
    elif entry.get("experimental_bearer_token"):
        notes.append(f"its key is not copied: pi auth login {name}")
    else:
        ours["keyless"] = True
    named = entry.get("env_http_headers")
    variables = {key: f"${value}" for key, value in named.items()} if isinstance(named, dict) else {}
    headers = {**take_headers(entry.get("http_headers"), notes), **take_headers(variables, notes)}
    if headers:
        ours["headers"] = headers
    if entry.get("query_params"):
        notes.append("query_params is left out")
    if config.get("model_provider") == name and isinstance(config.get("model"), str):
        ours["models"] = [{"id": config["model"], **_size(config)}]
    else:
        notes.append("add its models to models.json")
    return take_provider(place, name, ours, source, notes)


def _size(config: dict[str, Any]) -> dict[str, int]:
    size = config.get("model_context_window")
    return {"contextWindow": size} if isinstance(size, int) and not isinstance(size, bool) and size > 0 else {}


def sessions(home: Path, cwd: Path | None, environ: dict[str, str]) -> Iterator[Stored]:
    """Yield the stored sessions."""
    from pi_import.sessions.codex import stored

    configured = environ.get("CODEX_HOME")
    yield from stored(expand_home(configured) if configured else home / ".codex", cwd)
