"""Grants: what a distribution's ``pi_plugin.json`` declares that its plugins use; the host enforces them.

Hooks, tools and members of ``pi`` and ``ctx`` are enforced. ``network``, ``files`` and ``commands`` are only
declarations: code in this process can ignore them. A plugin without the file is not restricted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from importlib.metadata import Distribution
    from pathlib import Path

__all__ = ["FILE", "GATED", "is_granted", "not_granted", "parse_grants", "read_grants"]

FILE = "pi_plugin.json"

GATED = (
    "append_entry",
    "complete",
    "create_session",
    "exec",
    "execute_tool",
    "fork",
    "navigate_tree",
    "new_session",
    "processes",
    "register_mcp_server",
    "register_provider",
    "secrets",
    "send_message",
    "send_user_message",
    "sessions",
    "set_active_tools",
    "set_model",
    "set_thinking_level",
    "switch_session",
    "ui",
)
"""Members of ``pi`` and ``ctx`` that a plugin with grants may use only if ``ctx`` in its grants names them.

``settings`` is one as well: without it, ``ctx.settings`` can be read and not changed.
"""

_FREE_HOOKS = ("activate", "register_tools")
"""Hooks that need no grant, because what they register is checked instead."""

Grants = dict[str, Any]


def read_grants(name: str, value: str) -> Grants | None:
    """Return the grants of an installed plugin; None if it has no such file.

    Args:
        name: The distribution.
        value: The plugin's module; the package of an editable plugin contains the file.

    Raises:
        ValueError: The file is not valid.
        OSError: It cannot be read.
    """
    from importlib.metadata import PackageNotFoundError, distribution  # only needed for indexing

    try:
        found = distribution(name)
    except PackageNotFoundError:
        return None
    file = next((each for each in _candidates(found, value) if each.is_file()), None)
    return parse_grants(file.read_text(encoding="utf-8")) if file is not None else None


def _candidates(found: Distribution, value: str) -> Iterator[Path]:
    from pathlib import Path, PurePosixPath

    from pi_core.host.discovery import find_origin

    for file in found.files or ():
        if PurePosixPath(file).name == FILE:
            yield Path(str(found.locate_file(file)))
    origin = find_origin(value)
    if origin is not None and Path(origin).name == "__init__.py":
        yield Path(origin).with_name(FILE)


def parse_grants(text: str) -> Grants | None:
    """Return the grants in a file's text; None if it has none.

    Raises:
        ValueError: The grants are not an object whose values are lists of names, true or false.
    """
    import json

    content = json.loads(text)
    grants = content.get("grants") if isinstance(content, dict) else content
    if grants is None:
        return None
    if not isinstance(grants, dict) or not all(_is_valid(each) for each in grants.values()):
        raise ValueError(f"grants in {FILE} must be an object of lists of names, or true or false")
    return grants


def _is_valid(value: Any) -> bool:
    return isinstance(value, bool) or (isinstance(value, list) and all(isinstance(each, str) for each in value))


def is_granted(grants: Mapping[str, Any] | None, kind: str, name: str) -> bool:
    """Whether a plugin may use a hook, register a tool, or use a member of ``pi`` or ``ctx``.

    Args:
        grants: Its grants; None permits everything.
        kind: ``hooks``, ``tools`` or ``ctx``.
        name: The hook, tool or member.
    """
    if grants is None or (kind == "hooks" and name in _FREE_HOOKS):
        return True
    allowed = grants.get(kind, False)
    return allowed if isinstance(allowed, bool) else name in allowed


def not_granted(kind: str, name: str) -> str:
    """Return the message for something that is left out because it was not granted."""
    return f"is left out: grants.{kind} in {FILE} of the plugin does not name {name!r}"
