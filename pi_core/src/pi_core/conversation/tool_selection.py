"""Resolves a selection of tools: names, patterns, and changes to the default tools."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from attrs import field, frozen
from attrs.converters import optional

from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["ToolSelection", "with_servers"]

_OF_SERVERS = ("mcp__*", "*_mcp_resource*", "tool_searc[h]")
"""The tools of MCP servers, and the tools that find them; patterns, since a name without a tool causes a warning."""


def _once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


@frozen(eq=False, repr=False)
class ToolSelection(Value):
    """The tools that the user selected.

    Attributes:
        wanted: Names, and patterns with ``*``, ``?`` or ``[``; ``+name`` adds to and ``-name`` removes from the tools
            that are active by default, or that other items name. None selects the tools that are active by default.
        excluded: Names and patterns of tools that are not offered, even if ``wanted`` names them.
    """

    wanted: tuple[str, ...] | None = field(converter=optional(_once))
    excluded: tuple[str, ...] = field(default=(), converter=_once)

    def names(self, known: Sequence[str], default: Sequence[str]) -> list[str]:
        """Return the selected names in order of the selection.

        Args:
            known: All tools.
            default: The tools that are active by default.
        """
        wanted = self.wanted or ()
        changes = all(item[:1] in ("+", "-") for item in wanted)
        names = list(default) if self.wanted is None or (wanted and changes) else []
        for item in wanted:
            if item.startswith("-"):
                names = [name for name in names if not fnmatchcase(name, item[1:])]
            else:
                names += _meant(item.removeprefix("+"), known)
        return [name for name in dict.fromkeys(names) if self.allows(name)]

    def allows(self, name: str) -> bool:
        """Whether a tool is not excluded."""
        return not any(fnmatchcase(name, each) for each in self.excluded)

    def exact_names(self) -> list[str]:
        """Return the names without wildcards, each of which should be the name of a tool."""
        return [name for item in (*(self.wanted or ()), *self.excluded) if not _is_pattern(name := item.lstrip("+-"))]


def with_servers(selected: Sequence[str] | None) -> Sequence[str] | None:
    """Return the selected tools and all tools of MCP servers, which are chosen by configuring servers, or by name."""
    only_changes = all(item[:1] in ("+", "-") for item in selected or ())
    if selected is None or only_changes or any(item.lstrip("+-").startswith("mcp__") for item in selected):
        return selected
    return [*selected, *_OF_SERVERS]


def _meant(item: str, known: Sequence[str]) -> list[str]:
    return [name for name in known if fnmatchcase(name, item)] if _is_pattern(item) else [item]


def _is_pattern(item: str) -> bool:
    return any(sign in item for sign in "*?[")
