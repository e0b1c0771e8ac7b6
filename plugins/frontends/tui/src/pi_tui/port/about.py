"""What commands ask about pi itself: plugins, trust, files; nothing of the conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["About", "PluginRow", "TrustAnswer", "Trusted"]

TrustAnswer: TypeAlias = Literal["trust", "parent", "refuse", "forget"]
"""What is stored: trust of the folder, of its parent, a refusal, or no decision."""


class PluginRow(NamedTuple):
    """A plugin.

    Attributes:
        version: Its version; for a local extension, its path.
        state: ``enabled``, ``disabled``, ``waiting`` for what its ``pi_when`` names, or ``broken``.
        load_ms: Milliseconds to import it; None where that is not known.
        calls: How often its hooks were called in this session.
        calls_ms: The milliseconds that this took.
        problems: What is wrong with it.
    """

    name: str
    version: str
    state: Literal["enabled", "disabled", "waiting", "broken"]
    load_ms: float | None = None
    calls: int = 0
    calls_ms: float = 0.0
    problems: tuple[str, ...] = ()


class Trusted(NamedTuple):
    """Whether the files of a folder are used that can run code and instruct the model.

    Attributes:
        folder: The working directory.
        parent: The folder above it.
        is_trusted: Whether they are used.
        why: The reason.
        resources: Those files; empty where there is none.
    """

    folder: str
    parent: str
    is_trusted: bool
    why: str
    resources: str


class About(Protocol):
    """Methods that fail raise ``PiError``, whose text says what happened."""

    def plugins(self) -> Sequence[PluginRow]:
        """Return the plugins, those of the index and local extensions."""
        ...

    def trust(self) -> Trusted:
        """Return the decision about the working directory, as it is stored now."""
        ...

    def decide_trust(self, answer: TrustAnswer) -> None:
        """Store a decision about the working directory."""
        ...

    async def export(self, path: str | None) -> str:
        """Write the session into a file, in the format of its suffix, and return the file's path."""
        ...

    def write_debug(self, rows: Iterable[str]) -> str:
        """Write the rows of the screen and the session's entries into a file of the user alone; return its path."""
        ...
