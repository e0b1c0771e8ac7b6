"""``pi_when``: files, texts in files, variables, settings and options that a plugin's hooks require to be loaded."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pi_core.agent.safe_text import safe_repr
from pi_core.base.paths import expand_home

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pi_core.settings import Settings

__all__ = ["Condition", "condition_of", "describe_condition", "is_met"]

Condition = dict[str, list[str]]
"""``files``, ``texts``, ``env``, ``settings``, ``flags``, as in ``pi_when``; empty for a plugin without a condition."""

_UP_TO_WILDCARD = str.maketrans("?[", "**")

_KEYS = ("files", "texts", "env", "settings", "flags")
_BEFORE_TEXT = ": "
"""Between the name of a file and the text in it."""


def condition_of(plugin: object) -> Condition:
    """Return the condition that a plugin declares.

    Raises:
        ValueError: ``pi_when`` is not valid; the message describes valid values.
    """
    declared: Any = getattr(plugin, "pi_when", None)
    if declared is None:
        return {}
    if not isinstance(declared, dict) or not declared or not all(map(_is_valid, declared.items())):
        right = '{"files": ["acme.json"], "env": ["ACME_*"], "settings": ["acme.on"], "flags": ["acme"]}'
        raise ValueError(
            f"pi_when must look like {right}, with at least one of them, not {safe_repr(declared)};"
            " the plugin is always loaded"
        )
    return {key: list(names) for key, names in declared.items()}


def _is_valid(item: tuple[Any, Any]) -> bool:
    key, names = item
    if key not in _KEYS or not isinstance(names, list | tuple):
        return False
    is_complete = all if key == "texts" else any  # a file and a text in it; of others, any part is a name
    return all(isinstance(each, str) and is_complete(each.partition(_BEFORE_TEXT)[::2]) for each in names)


def is_met(
    condition: Condition,
    settings: Settings,
    cwd: Path,
    flags: Mapping[str, object] = MappingProxyType({}),
    environ: Mapping[str, str] = os.environ,
) -> bool:
    """Return whether a file exists or has a text, or a variable, setting or option is set; True without a condition.

    Args:
        condition: File names are relative to the agent directory and to the project's ``.pi``; names that begin with
            ``./`` are relative to the working directory, and names that begin with ``.../`` to it and any folder above
            it. A text follows the name of its file. Names of variables may contain ``*``. A setting is on unless it is
            not set, null or false. If a settings file cannot be read, its settings count as on, because a guard that it
            may require has to be loaded to refuse.
        settings: The effective settings, which also have the agent directory.
        cwd: The working directory.
        flags: Values of plugins' options by name; an option is on unless it is absent, None or false.
        environ: The environment variables.
    """
    if not condition:
        return True
    for name in condition.get("files", ()):
        if any(os.path.exists(place) for place in _places(name, settings, cwd)):  # noqa: PTH110 - Path.exists raises on no permission
            return True
    for each in condition.get("texts", ()):
        name, _, text = each.partition(_BEFORE_TEXT)
        if any(_contains(place, text) for place in _places(name, settings, cwd)):
            return True
    if any(_is_set(each, environ) for each in condition.get("env", ())):
        return True
    if any(flags.get(name) not in (None, False) for name in condition.get("flags", ())):
        return True
    return any(
        settings.get(name) not in (None, False) or settings.unread(name) is not None
        for name in condition.get("settings", ())
    )


def _places(name: str, settings: Settings, cwd: Path) -> list[Path]:
    path = expand_home(name.removeprefix(".../"))
    if name.startswith(".../"):
        folders: tuple[Path, ...] = (cwd, *cwd.parents)
    else:
        folders = (cwd,) if name.startswith("./") else (settings.agent_dir, cwd / ".pi")
    return [folder / path for folder in folders]


def _contains(file: Path, text: str) -> bool:
    try:
        return text.encode() in file.read_bytes()
    except OSError:
        return False


def _is_set(pattern: str, environ: Mapping[str, str]) -> bool:
    """Return whether a variable matches; a pattern is compiled only if a variable has the same beginning."""
    beginning = pattern.translate(_UP_TO_WILDCARD).partition("*")[0]
    return any(name.startswith(beginning) and fnmatchcase(name, pattern) for name in environ)


def describe_condition(condition: Condition) -> str:
    """Return what a condition requires, such as ``acme.json or $OTEL_* or setting acme.enabled or --trace``."""
    variables = (f"${name}" for name in condition.get("env", ()))
    settings = (f"setting {name}" for name in condition.get("settings", ()))
    flags = (f"--{name}" for name in condition.get("flags", ()))
    texts = (" with ".join(each.split(_BEFORE_TEXT, 1)) for each in condition.get("texts", ()))
    return " or ".join([*condition.get("files", ()), *texts, *variables, *settings, *flags])
