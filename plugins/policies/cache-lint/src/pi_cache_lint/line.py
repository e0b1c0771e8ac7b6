"""What is kept of a request for comparison with the next one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from attrs import define, field

from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_cache_lint.chain import Chain
    from pi_hookspecs import AgentMessage, Usage

__all__ = ["Changes", "Line", "Section"]

Changes: TypeAlias = "dict[str, tuple[tuple[str, str], ...]]"
"""What plugins changed, by hook: plugin and path, as observers get them."""


class Section(NamedTuple):
    """A part of the system prompt: its section, a hash of its text, and where it comes from."""

    name: str
    digest: str
    plugin: str | None
    hook: str


@define(eq=False, repr=False)
class Line(ReprMixin):
    """The last request of one purpose.

    Attributes:
        chain: Its links.
        usage: Its tokens.
        started: When it was sent, in seconds since 1970.
        leaf: The session's latest entry then.
        level: The thinking level.
        prompt: Hash of the system prompt before it became a part of the payload; empty if it is not known.
        sections: The parts that it was built of.
        offered: Name and hash of the tools before they became a part of the payload; empty if they are not known.
        owners: The plugin of each tool.
        messages: The messages before they became a part of the payload; None if they are not known.
        changes: What plugins changed in it.
        caches: Whether the provider has ever reported cached tokens.
    """

    chain: Chain
    usage: Usage
    started: float
    leaf: str | None = None
    level: str = "off"
    prompt: str = ""
    sections: tuple[Section, ...] = ()
    offered: tuple[tuple[str, str], ...] = ()
    owners: dict[str, str | None] = field(factory=dict)
    messages: Sequence[AgentMessage] | None = None
    changes: Changes = field(factory=dict)
    caches: bool = False
