"""The part of a session's interface that concerns pi itself: plugins, trust and files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["About", "HelpPage", "Loaded", "PluginRow", "TrustAnswer", "Trusted"]

TrustAnswer: TypeAlias = Literal["trust", "parent", "refuse", "forget"]
"""The decision to store: trust the folder, trust its parent, refuse, or forget the decision."""


class PluginRow(NamedTuple):
    """A plugin in the list of plugins.

    Attributes:
        version: The plugin's version; for a local extension, its path.
        state: ``enabled``, ``disabled``, ``waiting`` for the condition in its ``pi_when``, or ``broken``.
        load_ms: Milliseconds to import it; None if unknown.
        calls: Number of calls of its hooks in this session.
        calls_ms: Milliseconds that these calls took.
        problems: Messages about problems with it.
    """

    name: str
    version: str
    state: Literal["enabled", "disabled", "waiting", "broken"]
    load_ms: float | None = None
    calls: int = 0
    calls_ms: float = 0.0
    problems: tuple[str, ...] = ()


class Loaded(NamedTuple):
    """What a session has loaded of a kind.

    Attributes:
        title: The kind, in one word.
        names: The names, as they are typed or said.
        paths: The file of each.
    """

    title: str
    names: tuple[str, ...]
    paths: tuple[str, ...]


class Trusted(NamedTuple):
    """Whether files of a folder that can run code or instruct the model are used.

    Attributes:
        folder: The working directory.
        parent: The parent folder.
        is_trusted: Whether the files are used.
        why: The reason for the decision.
        resources: The files; empty if there are none.
    """

    folder: str
    parent: str
    is_trusted: bool
    why: str
    resources: str


class HelpPage(NamedTuple):
    """What ``pi help TOPIC`` prints: a page in Markdown, or, with ``found`` unset, the pages that mention the topic."""

    text: str
    found: bool


class About(Protocol):
    """The operations that concern pi itself. Methods that fail raise ``PiError``, whose text says what happened."""

    def plugins(self) -> Sequence[PluginRow]:
        """Return the plugins: those in the index, and local extensions."""
        ...

    async def loaded(self) -> Sequence[Loaded]:
        """Return the instructions, skills, prompts and extensions that the session uses, by kind."""
        ...

    def trust(self) -> Trusted:
        """Return the stored decision about the working directory."""
        ...

    def decide_trust(self, answer: TrustAnswer) -> None:
        """Store a decision about the working directory."""
        ...

    def why_no_command(self, name: str) -> str | None:
        """Return why a command of an installed plugin is not available here; None if no plugin has such a command."""
        ...

    def plugin(self, name: str) -> str:
        """Return the output of ``pi plugins show NAME``: what a plugin registers, and what it costs."""
        ...

    def help(self, topic: str) -> HelpPage:
        """Return the output of ``pi help TOPIC``: a page in Markdown, or the pages that mention the topic."""
        ...

    async def export(self, path: str | None) -> str:
        """Write the session into a file, in the format given by its suffix, and return the file's path."""
        ...

    def write_debug(self, rows: Iterable[str]) -> str:
        """Write the screen's rows and the session's entries into a file readable only by the user; return its path."""
        ...
