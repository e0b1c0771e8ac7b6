"""The options of ``@pytest.mark.pi(...)``, merged from all markers of a test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import field, fields_dict, frozen

from pi_hookspecs import Tool

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pytest

__all__ = ["SESSION_STORE", "PiOptions", "options_of"]

SESSION_STORE = "session-jsonl"
"""The plugin that keeps a stored session in a file."""


@frozen(kw_only=True)
class PiOptions:
    """The options, by the names that the marker gives them."""

    plugins: Mapping[str, object] | Sequence[object] | None = None
    extensions: Sequence[str | Path] = ()
    entry_points: Sequence[str] = ()
    stored: bool = False
    settings: Mapping[str, Any] = field(factory=dict)
    tools: Sequence[str | Tool] | None = None
    session: Mapping[str, Any] = field(factory=dict)
    trusted: bool = False
    allow_problems: bool = False
    screen: bool = False

    @property
    def installed_plugins(self) -> list[str]:
        """Names of the installed plugins that come with those under test."""
        store = [SESSION_STORE] if self.stored and SESSION_STORE not in self.entry_points else []
        return [*self.entry_points, *store]

    @property
    def tool_names(self) -> list[str] | None:
        """Names of the tools to offer; None for those that are active by default."""
        return None if self.tools is None else [each for each in self.tools if isinstance(each, str)]

    @property
    def custom_tools(self) -> list[Tool]:
        """Tools to offer that no plugin registers."""
        return [each for each in self.tools or () if isinstance(each, Tool)]


def options_of(node: pytest.Item) -> PiOptions:
    """Return the options of a test; the marker nearest to it wins, option by option.

    Raises:
        TypeError: A marker has an option that does not exist.
    """
    merged: dict[str, Any] = {}
    for marker in reversed(list(node.iter_markers("pi"))):
        unknown = sorted(set(marker.kwargs) - set(fields_dict(PiOptions)))
        if marker.args or unknown:
            wrong = ", ".join([*map(repr, marker.args), *unknown])
            known = ", ".join(fields_dict(PiOptions))
            raise TypeError(f"@pytest.mark.pi takes {known} by name, not {wrong}")
        merged.update(marker.kwargs)
    return PiOptions(**merged)
