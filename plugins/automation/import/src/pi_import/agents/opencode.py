"""opencode: ``~/.config/opencode`` and a project's ``opencode.json`` and ``.opencode``."""

from __future__ import annotations

import glob
import re
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_core import expand_home
from pi_import.commands import markdown_commands, take_command
from pi_import.instructions import as_it_is, take_file
from pi_import.models import PROVIDERS, key_of, take_headers, take_key, take_provider
from pi_import.permissions import opencode_rules, take_rules
from pi_import.place import Unreadable, object_in
from pi_import.skills import take_agent, take_agents, take_skills
from pi_import.steps import left_out, others_left_out

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_import.models import Models
    from pi_import.place import Place
    from pi_import.sessions.transcript import Stored
    from pi_import.steps import Step

__all__ = ["MCP", "PROJECT", "PROJECT_SESSIONS", "sessions", "steps"]

PROJECT = ("opencode.json", "opencode.jsonc", ".opencode")
MCP = "opencode"
PROJECT_SESSIONS = False

_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,63}")
_APIS = {
    "@ai-sdk/openai-compatible": "openai-completions",
    "@ai-sdk/openai": "openai-responses",
    "@ai-sdk/anthropic": "anthropic-messages",
}
_TAKEN = ["instructions", "command", "agent", "mode", "provider", "model", "permission", "tools", "mcp"]
"""Keys of ``opencode.json`` that other steps are about."""
_UNUSED = {
    "plugin": "plugins of opencode are JavaScript; pi plugin new creates one in Python",
    "formatter": "a PostToolUse hook can run a formatter",
    "lsp": "the extra diagnostics asks language servers (pi help install)",
    "theme": "themes have a different format (pi help themes)",
    "keybinds": "keys are in keybindings.json (pi help keybindings)",
    "share": "pi shares a session only when you ask for it: /share",
    "small_model": "the settings of compaction and titles name their models",
    "experimental": "it has no counterpart",
    "enterprise": "it has no counterpart",
}
_MAIN = ("build", "plan")
"""Main agents of opencode, which an entry of that name changes."""
_MOST_FILES = 50


def steps(place: Place, models: Models) -> Iterator[Step]:
    """Yield the steps for a place, without its MCP servers and sessions."""
    if place.scope == "user":
        yield from _keys(place)
        base = expand_home(place.environ.get("XDG_CONFIG_HOME") or place.root / ".config")
        folders = [base / "opencode"]
        yield from take_file(place, folders[0] / "AGENTS.md")
        files = [folders[0] / "opencode.json", folders[0] / "opencode.jsonc"]
    else:
        folders = [place.root / ".opencode"]
        yield from as_it_is(place, place.root / "AGENTS.md")
        files = [
            place.root / "opencode.json",
            place.root / "opencode.jsonc",
            folders[0] / "opencode.json",
            folders[0] / "opencode.jsonc",
        ]
    for folder in folders:
        for name in ("command", "commands"):
            yield from markdown_commands(place, folder / name)
        for name in ("agent", "agents"):
            yield from take_agents(place, folder / name)
        for name in ("skill", "skills"):
            yield from take_skills(place, folder / name)
        for name in ("plugin", "plugins", "tool", "tools"):
            if (folder / name).is_dir():
                yield left_out("setting", name, place.label(folder / name), _UNUSED["plugin"], scope=place.scope)
    for file in files:
        yield from _config(place, file, models)


def sessions(home: Path, cwd: Path | None, environ: dict[str, str]) -> Iterator[Stored]:
    """Yield the stored sessions."""
    from pi_import.sessions.opencode import stored

    yield from stored(_data(home, environ), cwd)


def _data(home: Path, environ: dict[str, str]) -> Path:
    """Return the folder in which opencode stores its data."""
    return expand_home(environ.get("XDG_DATA_HOME") or home / ".local" / "share") / "opencode"


def _keys(place: Place) -> Iterator[Step]:
    """Yield the step for the keys that opencode stores."""
    auth = _data(place.root, place.environ) / "auth.json"
    if auth.is_file():
        yield take_key(place, "auth.json", "PROVIDER", place.label(auth))


def _config(place: Place, file: Path, models: Models) -> Iterator[Step]:
    config, source = place.object_of(file), place.label(file)
    yield from _instructions(place, config.get("instructions"), file, source)
    for name, value in _objects(config.get("command")):

        def body(value: dict[str, Any] = value) -> tuple[str, dict[str, Any]]:
            template = value.get("template")
            if not isinstance(template, str):
                raise Unreadable("has no template")
            return template, value

        yield from take_command(place, name, "", source, body)
    for key in ("agent", "mode"):
        for name, value in _objects(config.get(key)):
            prompt = value.get("prompt")
            text = _prompt(place, prompt, file) if isinstance(prompt, str) else ""
            mode = {"mode": "primary"} if name in _MAIN else {}
            yield from take_agent(place, name, {**value, **mode}, text, source)
    yield from _models(place, config, models, source)
    yield from take_rules(place, opencode_rules(config.get("permission"), source, config.get("tools")), in_order=True)
    for key, why in _UNUSED.items():
        if config.get(key):
            yield left_out("setting", key, source, why, scope=place.scope)
    yield from others_left_out(place, config, source, {*_TAKEN, *_UNUSED})


def _models(place: Place, config: dict[str, Any], models: Models, source: str) -> Iterator[Step]:
    providers = dict(_objects(config.get("provider")))
    new = set()
    for name, value in providers.items():
        if place.scope == "project":
            why = "models.json is yours alone; add the provider there if you want it"
            yield left_out("provider", name, source, why, scope=place.scope)
            continue
        step = _provider(place, name, value, source)
        if step.outcome != "not" and _is_new(value):
            new.add(name)
        yield step
    model = config.get("model")
    named, _, rest = model.partition("/") if isinstance(model, str) else ("", "", "")
    if named in new:
        yield from models.take(place, rest, source, provider=named, added=True)
    else:
        yield from models.take(place, model, source)


def _objects(value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, entry in value.items() if isinstance(value, dict) else ():
        if isinstance(entry, dict):
            yield str(name), entry


def _instructions(place: Place, patterns: Any, file: Path, source: str) -> Iterator[Step]:
    for pattern in patterns if isinstance(patterns, list) else ():
        if not isinstance(pattern, str):
            continue
        if pattern.startswith(("http://", "https://")):
            why = "pi loads no instructions from the network; save the page as a file"
            yield left_out("instructions", pattern, source, why, scope=place.scope)
            continue
        path = str(expand_home(pattern)) if pattern.startswith("~") else str(file.parent / pattern)
        found = sorted(islice(glob.iglob(path, recursive=True), _MOST_FILES))  # noqa: PTH207 - of absolute patterns, too
        if not found:
            yield left_out("instructions", pattern, source, "there is no such file", scope=place.scope)
        for each in found:
            if Path(each).name in ("AGENTS.md", "CLAUDE.md") and Path(each).parent == place.root:
                continue  # it is read as it is
            yield from take_file(place, Path(each))


def _prompt(place: Place, prompt: str, file: Path) -> str:
    """Return an agent's instructions: a text, or ``{file:./prompts/review.md}``."""
    named = re.fullmatch(r"\{file:([^{}]+)\}", prompt.strip())
    if named is None:
        return prompt
    try:
        return place.read(file.parent / expand_home(named[1]))
    except Unreadable:
        return ""


def _is_new(value: dict[str, Any]) -> bool:
    return isinstance(value.get("npm"), str) and isinstance(value.get("models"), dict)


def _provider(place: Place, name: str, value: dict[str, Any], source: str) -> Step:
    options = object_in(value, "options")
    notes: list[str] = []
    ours: dict[str, Any] = {}
    if isinstance(options.get("baseURL"), str):
        ours["baseUrl"] = options["baseURL"]
    api = _APIS.get(str(value.get("npm")))
    if value.get("npm") and api is None:
        return left_out("provider", name, source, f"pi has no API for {value['npm']}", scope=place.scope)
    if api is not None:
        ours["api"] = api
        ours["name"] = str(value.get("name") or name)
    variable = re.sub(r"\W", "_", name.upper()) + "_API_KEY"
    key, why = key_of(options.get("apiKey"), variable)
    if key is not None:
        ours["apiKey"] = key
    elif api is not None:
        ours["keyless"] = True
    notes += [why] if why else []
    headers = take_headers(options.get("headers"), notes)
    if headers:
        ours["headers"] = headers
    added = [_model(each, about) for each, about in _objects(value.get("models"))] if api is not None else []
    if added:
        ours["models"] = added
    elif object_in(value, "models"):
        notes.append("its models are left out, because pi has a list of its own; --model takes other names, too")
    if not _NAME.fullmatch(name) or not ours:
        return left_out(
            "provider",
            name,
            source,
            "it sets nothing that pi can import: pi has its own list of these models",
            scope=place.scope,
        )
    return take_provider(place, PROVIDERS.get(name, name), ours, source, notes)


def _model(name: str, about: dict[str, Any]) -> dict[str, Any]:
    limit = object_in(about, "limit")
    model: dict[str, Any] = {"id": str(about.get("id") or name)}
    if isinstance(about.get("name"), str):
        model["name"] = about["name"]
    for theirs, ours in (("context", "contextWindow"), ("output", "maxTokens")):
        if isinstance(limit.get(theirs), int) and not isinstance(limit.get(theirs), bool) and limit[theirs] > 0:
            model[ours] = limit[theirs]
    if about.get("reasoning") is True:
        model["reasoning"] = True
    return model
