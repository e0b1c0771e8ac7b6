"""``pi_when``: the files and environment variables without which an installed plugin is not loaded for its hooks."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_core.agent.safe_text import safe_repr

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Condition", "condition_of", "describe_condition", "is_met"]

Condition = dict[str, list[str]]
"""``files`` and ``env``, as in ``pi_when``; empty for a plugin without a condition."""

_KEYS = ("files", "env")


def condition_of(plugin: object) -> Condition:
    """Return the condition that a plugin declares.

    Raises:
        ValueError: ``pi_when`` is not valid; the message says what it must be.
    """
    declared: Any = getattr(plugin, "pi_when", None)
    if declared is None:
        return {}
    if not isinstance(declared, dict) or not declared or not all(map(_is_valid, declared.items())):
        right = '{"files": ["acme.json"], "env": ["ACME_*"]}, with at least one of the two'
        raise ValueError(f"pi_when must look like {right}, not {safe_repr(declared)}; the plugin is always loaded")
    return {key: list(names) for key, names in declared.items()}


def _is_valid(item: tuple[Any, Any]) -> bool:
    key, names = item
    return key in _KEYS and isinstance(names, list | tuple) and all(isinstance(each, str) and each for each in names)


def is_met(condition: Condition, agent_dir: Path, cwd: Path, environ: Mapping[str, str] = os.environ) -> bool:
    """Return whether one of the files exists or one of the variables is set; True without a condition.

    Args:
        condition: File names are relative to the agent directory and to the project's ``.pi``, those that begin with
            ``./`` to the working directory. Names of variables may contain ``*``.
        agent_dir: The agent directory.
        cwd: The working directory.
        environ: The environment variables.
    """
    if not condition:
        return True
    for name in condition.get("files", ()):
        folders = (cwd,) if name.startswith("./") else (agent_dir, cwd / ".pi")
        path = Path(name).expanduser()
        if any(os.path.exists(folder / path) for folder in folders):  # noqa: PTH110 - Path.exists raises on no permission
            return True
    return any(fnmatchcase(name, each) for each in condition.get("env", ()) for name in environ)


def describe_condition(condition: Condition) -> str:
    """Return what a condition waits for: ``mcp.json or $OTEL_*``."""
    return " or ".join([*condition.get("files", ()), *(f"${name}" for name in condition.get("env", ()))])
