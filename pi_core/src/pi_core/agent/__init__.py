"""The agent: a loop around a model and tools. README.md explains it step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs.lazy import lazy_exports

if TYPE_CHECKING:
    from pi_core.agent.agent import Agent
    from pi_core.agent.state import AgentState

__all__ = ["Agent", "AgentState"]

__getattr__ = lazy_exports(__name__, {"agent": "Agent", "state": "AgentState"})
