"""aider: ``.aider.conf.yml`` in the home folder and in the project, and the files that it names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_core import expand_home, parse_frontmatter
from pi_import.instructions import as_it_is, take_file
from pi_import.models import Models, sign_in, take_key, take_level, take_provider
from pi_import.place import Unreadable
from pi_import.steps import left_out, others_left_out

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_import.place import Place
    from pi_import.sessions.transcript import Stored
    from pi_import.steps import Step

__all__ = ["MCP", "PROJECT", "PROJECT_SESSIONS", "sessions", "steps"]

PROJECT = (".aider.conf.yml", ".aider.model.settings.yml", ".aiderignore", ".aider.chat.history.md")
PROJECT_SESSIONS = True
MCP = None

_ALIASES = {
    "sonnet": "anthropic/sonnet",
    "opus": "anthropic/opus",
    "haiku": "anthropic/haiku",
    "deepseek": "deepseek/deepseek-chat",
    "flash": "google/gemini-2.5-flash",
    "gemini": "google/gemini-2.5-pro",
}
_KEYS = {"openai-api-key": "openai", "anthropic-api-key": "anthropic"}
_TAKEN = ["model", "read", "reasoning-effort", "openai-api-base", "api-key"]
"""Options that other steps are about."""
_UNUSED = {
    "weak-model": "the settings of compaction name their model",
    "editor-model": "one model edits in pi",
    "architect": "agents can plan with another model (pi help agents)",
    "edit-format": "models edit with tools in pi",
    "auto-commits": "pi commits nothing by itself; rewind keeps a checkpoint of each prompt (pi help rewind)",
    "dirty-commits": "pi commits nothing by itself; rewind keeps a checkpoint of each prompt (pi help rewind)",
    "lint-cmd": "the extra diagnostics reports what linters find in edits (pi help install)",
    "auto-lint": "the extra diagnostics reports what linters find in edits (pi help install)",
    "test-cmd": "describe in AGENTS.md how the tests are run, or use a Stop hook",
    "auto-test": "describe in AGENTS.md how the tests are run, or use a Stop hook",
    "map-tokens": "the model searches with grep and find in pi",
    "yes-always": "pi runs tools without asking; guardrails ask before dangerous ones",
    "notifications": "pi notifies with the settings notifications.terminal and notifications.command",
    "watch-files": "it has no counterpart",
    "alias": "names of models can be abbreviated in pi: --model sonnet",
    "env-file": "pi reads no .env; set keys in your shell, or pi auth login",
    "set-env": "pi sets no variables for itself; set them in your shell",
    "dark-mode": "themes are set with the setting theme",
    "light-mode": "themes are set with the setting theme",
    "vim": "keys are in keybindings.json (pi help keybindings)",
    "aiderignore": "tools follow .gitignore and .ignore",
}
_OTHER_FILES = {
    ".aider.model.settings.yml": ("setting", "models.json describes models (pi help models)"),
    ".aider.model.metadata.json": ("setting", "models.json describes models (pi help models)"),
    ".aiderignore": ("setting", "tools follow .gitignore and .ignore"),
}


def steps(place: Place, models: Models) -> Iterator[Step]:
    """Yield the steps for a place."""
    file = place.root / ".aider.conf.yml"
    source = place.label(file)
    config = _config(place, file)
    yield from _instructions(place, config, source)
    yield from _model(place, config, models, source)
    yield from take_level(place, config.get("reasoning-effort"), source)
    yield from _keys(place, config, source)
    for key, why in _UNUSED.items():
        if config.get(key) not in (None, "", []):
            yield left_out("setting", key, source, why, scope=place.scope)
    yield from others_left_out(place, config, source, {*_TAKEN, *_ALIASES, *_KEYS, *_UNUSED})
    if (place.root / ".env").is_file():
        why = f"keys are not copied, and pi reads no .env: {sign_in('PROVIDER')}"
        yield left_out("key", ".env", place.label(place.root / ".env"), why, scope=place.scope)
    for name, (kind, why) in _OTHER_FILES.items():
        if (place.root / name).is_file():
            yield left_out(kind, name, place.label(place.root / name), why, scope=place.scope)


def _instructions(place: Place, config: dict[str, Any], source: str) -> Iterator[Step]:
    read = config.get("read")
    names = [each for each in (read if isinstance(read, list) else [read]) if isinstance(each, str) and each]
    for name in names:
        path = place.root / expand_home(name)
        if place.scope == "project" and name in ("AGENTS.md", "CLAUDE.md"):
            yield from as_it_is(place, path)
        elif path.is_file():
            yield from take_file(place, path)
        else:
            yield left_out("instructions", name, source, "there is no such file", scope=place.scope)
    if place.scope == "project" and (place.root / "CONVENTIONS.md").is_file() and "CONVENTIONS.md" not in names:
        why = "aider reads it only when it is named; name it in AGENTS.md"
        yield left_out("instructions", "CONVENTIONS.md", "CONVENTIONS.md", why, scope=place.scope)


def _keys(place: Place, config: dict[str, Any], source: str) -> Iterator[Step]:
    for key, provider in _KEYS.items():
        if config.get(key):
            yield take_key(place, key, provider, source)
    keys = config.get("api-key")
    for each in keys if isinstance(keys, list) else [keys]:
        if isinstance(each, str) and "=" in each:
            provider = each.partition("=")[0].strip()
            yield take_key(place, f"api-key {provider}", _provider_name(provider), source)


def _config(place: Place, file: Path) -> dict[str, Any]:
    """Return the file, which is YAML, with dashes in its names."""
    if not file.is_file():
        return {}
    try:
        text = place.read(file)
    except Unreadable as error:
        place.problems.append(left_out("setting", file.name, place.label(file), f"it {error}", scope=place.scope))
        return {}
    body = "\n".join(line for line in text.splitlines() if line.strip() not in ("---", "..."))
    written = parse_frontmatter(f"---\n{body}\n---\n")
    if written.problem is not None:
        why = f"it is not valid YAML, line {(written.line or 2) - 1}"
        place.problems.append(left_out("setting", file.name, place.label(file), why, scope=place.scope))
    return {str(key).replace("_", "-"): value for key, value in written.values.items()}


def _model(place: Place, config: dict[str, Any], models: Models, source: str) -> Iterator[Step]:
    name = next((config[key] for key in ("model",) if config.get(key)), None)
    name = name or next((key for key in ("opus", "sonnet", "haiku", "deepseek") if config.get(key) is True), None)
    if not isinstance(name, str):
        return
    base = config.get("openai-api-base")
    bare = name.removeprefix("openai/")
    if isinstance(base, str) and base and place.scope == "user":
        entry = {
            "baseUrl": base,
            "api": "openai-completions",
            "apiKey": "$OPENAI_API_KEY",
            "models": [{"id": bare}],
        }
        yield take_provider(place, "aider", entry, source, ["its key comes from OPENAI_API_KEY"])
        yield from models.take(place, bare, source, provider="aider", added=True)
        return
    if isinstance(base, str) and base:
        why = "models.json is yours alone; add the server there if you want it"
        yield left_out("provider", base, source, why, scope=place.scope)
    yield from models.take(place, _ALIASES.get(name, _provider_prefix(name)), source, alias=name)


def _provider_prefix(name: str) -> str:
    """Return a name of LiteLLM with pi's name of the provider."""
    provider, found, model = name.partition("/")
    return f"{_provider_name(provider)}/{model}" if found else name


def _provider_name(name: str) -> str:
    from pi_import.models import PROVIDERS

    return re.sub(r"[^\w.-]", "", PROVIDERS.get(name, name))[:64]


def sessions(home: Path, cwd: Path | None, environ: dict[str, str]) -> Iterator[Stored]:  # noqa: ARG001 - as of others
    """Yield the chats of a folder: aider keeps no list of the folders that have some."""
    from pi_import.sessions.aider import stored

    yield from stored(cwd or Path.cwd())
