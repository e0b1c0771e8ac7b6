"""``ctx``: what a hook, a command or a tool may see and do (pi.md 10.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pi_hookspecs.abort import AbortSignal
    from pi_hookspecs.entries import SessionEntry
    from pi_hookspecs.models import Model, ThinkingLevel
    from pi_hookspecs.tools import ToolResult
    from pi_hookspecs.ui import UserInterface

__all__ = ["ContextUsage", "PiContext", "RunMode", "SessionView", "SettingsView", "ToolContext"]

RunMode: TypeAlias = str
"""The front end's name: ``tui``, ``rpc``, ``json``, ``print``, or what a plugin brings."""


@frozen(kw_only=True)
class ContextUsage:
    """How full the model's window is; ``tokens`` and ``percent`` are None where that is not known."""

    tokens: int | None
    context_window: int
    percent: float | None


@runtime_checkable
class SessionView(Protocol):
    """The session, read only."""

    @property
    def id(self) -> str:
        """The session's id."""
        ...

    @property
    def file(self) -> Path | None:
        """Where it is stored; None in memory."""
        ...

    @property
    def leaf_id(self) -> str | None:
        """The entry that the next one will follow."""
        ...

    def entries(self) -> Sequence[SessionEntry]:
        """All entries, of all branches, oldest first."""
        ...

    def branch(self, from_id: str | None = None) -> Sequence[SessionEntry]:
        """The entries from the root to the leaf, or to the entry named."""
        ...

    def entry(self, entry_id: str) -> SessionEntry | None:
        """The entry with this id."""
        ...


@runtime_checkable
class SettingsView(Protocol):
    """The user's settings, read only."""

    def get(self, key: str | Sequence[str], default: Any = None) -> Any:
        """Return a value by its dotted name or its steps, ``"compaction.enabled"``; the default where none is set."""
        ...


@runtime_checkable
class PiContext(Protocol):
    """Everything that a plugin may use while it answers a hook."""

    @property
    def ui(self) -> UserInterface:
        """The user. While a dialog is open the hook's deadline stands still."""
        ...

    @property
    def has_ui(self) -> bool:
        """Whether anybody can answer a dialog."""
        ...

    @property
    def mode(self) -> RunMode:
        """Which front end runs."""
        ...

    @property
    def cwd(self) -> Path:
        """The session's working directory."""
        ...

    @property
    def session(self) -> SessionView:
        """The conversation so far."""
        ...

    @property
    def settings(self) -> SettingsView:
        """What the user has set."""
        ...

    @property
    def model(self) -> Model | None:
        """Who answers."""
        ...

    @property
    def thinking_level(self) -> ThinkingLevel:
        """How hard it thinks."""
        ...

    @property
    def signal(self) -> AbortSignal | None:
        """The run's abort; None between runs."""
        ...

    @property
    def system_prompt(self) -> str:
        """The system prompt as the next request would send it."""
        ...

    def is_idle(self) -> bool:
        """Whether no run is going on."""
        ...

    def has_pending_messages(self) -> bool:
        """Whether messages are queued."""
        ...

    def context_usage(self) -> ContextUsage | None:
        """How full the window is; None without a model."""
        ...

    def abort(self, reason: str = "Operation aborted") -> None:
        """Stop the run that is going on."""
        ...

    def shutdown(self) -> None:
        """Ask the front end to end in good order, when the run is over."""
        ...


@runtime_checkable
class ToolContext(PiContext, Protocol):
    """What a running tool may use: the session's context, and its own call."""

    @property
    def signal(self) -> AbortSignal:
        """The run's abort."""
        ...

    @property
    def call_id(self) -> str:
        """Id of this call."""
        ...

    def update(self, partial: ToolResult | str) -> None:
        """Show a partial result while the tool runs."""
        ...
