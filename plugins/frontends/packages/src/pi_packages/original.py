"""``pi doctor --original``: what of a user's files of the original pi has no effect here, and what to do instead."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pi_core import PluginHost, register_providers
from pi_core.host.extensions.places import find_extensions
from pi_core.settings.values import leaves, name_of
from pi_hookspecs import UserError
from pi_packages import WRITTEN_BY_THE_ORIGINAL
from pi_packages.checks import check_row, object_in
from pi_packages.entries import read_entries
from pi_packages.listing import scopes_of
from pi_packages.store import Store
from pi_packages.syncing import is_complete

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_core import ModelRegistry
    from pi_packages.checks import Row

__all__ = ["differences", "is_of_the_original", "unnoticed"]

SETTINGS = {
    "codemode.inlineBudget": "Nothing: scripts learn of tools by searching for them",
    "codemode.mode": "Set codemode.enabled; the exposure codemode of a tool leaves it to scripts",
    "enableAnalytics": "Nothing: pi sends no statistics",
    "enableInstallTelemetry": "Nothing: pi sends no statistics",
    "fullscreenWheelScrollLines": "Nothing: a step of the wheel has a fixed number of lines",
    "selfUpdateCommand": "Update pi with the program that installed it; pi update names the command",
    "sessionShareDestination": "Nothing: /share makes a secret gist",
    "websocketConnectTimeoutMs": "Nothing: no provider uses WebSocket",
}
"""Settings of the original that nothing reads here, with what to do."""

VARIABLES = {
    "PI_CLIPBOARD_OSC52": "Remove it; pi help terminals says how pi copies",
    "PI_CODEMODE_MAX_WORKERS": "Remove it: each script of code mode has a process of its own",
    "PI_PACKAGE_DIR": "Remove it: pi is installed by Python's installers",
    "PI_PROGRAM_STATUS": "Remove it: pi does not report its status to terminals",
    "PI_RADIUS_GATEWAY": "Add the gateway as a provider to models.json; pi help models describes it",
    "PI_SELF_UPDATE_COMMAND": "Remove it; pi update names the command that updates pi",
    "PI_SKIP_VERSION_CHECK": "Remove it: pi does not check for new versions",
    "PI_TELEMETRY": "Remove it: pi does not report usage",
    "PI_TUI_ESC_TIMEOUT": "Remove it",
}
"""Environment variables of the original that nothing reads here, with what to do."""


def is_of_the_original(host: PluginHost) -> bool:
    """Whether the user's settings were written by the original."""
    return any(host.settings.get((name,)) is not None for name in WRITTEN_BY_THE_ORIGINAL)


def differences(host: PluginHost) -> Iterator[Row]:
    """Yield rows as ``pi_packages.doctor.checks`` does: of settings, variables, keys, models, packages, extensions."""
    models = _models(host)
    found = [*_problems(host), *unnoticed(host, models), *_wrong_models(models), *_packages(host), *_extensions(host)]
    yield from found
    if not any(row["state"] == "warning" for row in found):
        yield check_row("original", "ok", "everything that was found in files of the original has an effect here")


def unnoticed(host: PluginHost, models: ModelRegistry | None = None) -> Iterator[Row]:
    """Yield the rows about what a session says nothing of: it has no effect, and nothing about it is wrong."""
    yield from _settings(host)
    yield from _variables()
    yield from _mcp(host)
    yield from _keys(host, models or _models(host))


def _models(host: PluginHost) -> ModelRegistry:
    from pi_core import ModelRegistry

    models = ModelRegistry(host, host.settings, os.environ)
    register_providers(host, models)
    return models


def _problems(host: PluginHost) -> Iterator[Row]:
    for problem in host.settings.problems:
        yield check_row("settings", "warning", problem, "Correct the file; pi config schema has what is allowed")


def _settings(host: PluginHost) -> Iterator[Row]:
    settings = host.settings
    known = host.known_settings
    for steps, _ in leaves(settings.all()):
        name, declared = name_of(steps), known.find(steps)
        if name in SETTINGS:
            yield check_row("settings", "warning", f"{name} has no effect ({settings.place(steps)})", SETTINGS[name])
        elif declared is not None and declared.description.endswith("without effect here"):
            yield check_row(
                "settings", "warning", f"{name} has no effect ({settings.place(steps)})", "Nothing: leave it"
            )
    own = {name.partition(".")[0] for name in SETTINGS} | {"$schema", *WRITTEN_BY_THE_ORIGINAL}
    for name in sorted(settings.all().keys() - known.json_schema["properties"].keys() - own):
        message = f"{name} is not a setting of pi or of an installed plugin ({settings.place((name,))})"
        yield check_row("settings", "warning", message, "If an extension reads it, keep it; else remove it")


def _variables() -> Iterator[Row]:
    for name, remedy in VARIABLES.items():
        if os.environ.get(name):
            yield check_row("environment", "warning", f"{name} has no effect", remedy)


def _mcp(host: PluginHost) -> Iterator[Row]:
    file = host.settings.agent_dir / "mcp.json"
    if "autoEnableCodemode" in object_in(file):
        message = f"autoEnableCodemode in {file} has no effect"
        yield check_row("mcp servers", "warning", message, "pi config set codemode.enabled true switches code mode on")


def _wrong_models(models: ModelRegistry) -> Iterator[Row]:
    for problem in models.warnings:
        yield check_row("models", "warning", problem, "Correct models.json; pi help models describes it")


def _keys(host: PluginHost, models: ModelRegistry) -> Iterator[Row]:
    file = host.settings.agent_dir / "auth.json"
    for name in sorted(object_in(file)):
        try:
            models.provider(name)
        except UserError:
            message = f"{file} has a key for {name!r}, and no provider has this id"
            yield check_row(
                "keys", "warning", message, "Install a plugin that has the provider, or add it to models.json"
            )


def _packages(host: PluginHost) -> Iterator[Row]:
    for scope in scopes_of(host):
        entries, problems = read_entries(scope)
        for problem in problems:
            yield check_row("packages", "warning", problem, "Correct the entry, or remove it with pi remove")
        if entries and not is_complete(entries, Store(scope.root).current()):
            yield check_row(
                "packages", "warning", f"not all packages of the {scope.name} settings are installed", "pi sync"
            )


def _extensions(host: PluginHost) -> Iterator[Row]:
    """Load each extension in another language, as the next session would, and say what of it is missing."""
    sources, _ = find_extensions(host.settings.project_trust.cwd, host.settings, [], discover=True)
    languages = [each.thing for each in host.services("ExtensionLanguage") if hasattr(each.thing, "check")]
    for file in (each.script for each in sources if each.script is not None):
        language = next((each for each in reversed(languages) if file.name.endswith(tuple(each.suffixes))), None)
        if language is None:
            message = f"no installed plugin runs {file}"
            yield check_row("extensions", "warning", message, "Install the plugin typescript: pi install typescript")
            continue
        try:
            found = language.check(file, host.settings)
        except UserError as error:
            yield check_row("extensions", "warning", str(error), "")
            return
        for level, text in found:
            if level != "note":
                yield check_row(
                    "extensions", "warning", f"{file}: {text}", f"pi plugins check {file} says what it registers"
                )
