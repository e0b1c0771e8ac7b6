"""The agents whose files can be imported, one module each."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pi_import.models import Models
    from pi_import.place import Place
    from pi_import.sessions.transcript import Stored
    from pi_import.steps import Step

__all__ = ["AGENTS", "Agent", "agent_of"]

AGENTS = {
    "claude": "Claude Code",
    "codex": "codex",
    "opencode": "opencode",
    "gemini": "Gemini CLI",
    "aider": "aider",
}
"""The names of agents, as the command takes them and as they call themselves."""


class Agent(Protocol):
    """A module of this package.

    Attributes:
        PROJECT: Files and folders of a project that are used only if it is trusted.
        MCP: The agent's name in ``pi mcp import``; None if it has no servers there.
        PROJECT_SESSIONS: Whether its sessions are files of the project, which are used only if it is trusted.
    """

    PROJECT: tuple[str, ...]
    MCP: str | None
    PROJECT_SESSIONS: bool

    def steps(self, place: Place, models: Models) -> Iterator[Step]:
        """Yield the steps for a place, without its MCP servers and sessions."""
        ...

    def sessions(self, home: Path, cwd: Path | None, environ: dict[str, str]) -> Iterator[Stored]:
        """Yield the stored sessions of a working directory, or all when it is None."""
        ...


def agent_of(name: str) -> Agent:
    """Return the module of an agent."""
    return cast("Agent", import_module(f"pi_import.agents.{name}"))
