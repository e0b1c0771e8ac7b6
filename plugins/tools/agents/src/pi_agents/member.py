"""One running agent: its state, its cost, and the record of it that the session keeps."""

from __future__ import annotations

import asyncio
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from attrs import define, field

from pi_hookspecs import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pi_agents.roster import Agent
    from pi_agents.worktree import Worktree
    from pi_hookspecs import ToolResult

__all__ = ["ENTRY", "Member", "State", "price", "rows_of", "stored_record", "summary_of"]

ENTRY = "agent"
"""The type of the custom entries that store the records of finished agents."""

State: TypeAlias = Literal["waiting", "running", "done", "failed", "stopped"]


_NO_AMOUNT = 1e12
"""Turns and dollars from here on are no amounts: a number in a session file can have thousands of digits."""


def _new_id() -> str:
    return token_hex(4)


@define(eq=False)
class Member:
    """An agent that a session has started.

    Attributes:
        agent: The agent's definition.
        prompt: The agent's task.
        description: The task in a few words.
        isolation: ``worktree``, or ``none``.
        id: Eight hexadecimal digits.
        background: Whether the call that started it has returned.
        session: Its session while it is running.
        file: The session's file; None for a session in memory.
        worktree: The worktree in which it works, if there is one.
        result: The text that the model gets, once the agent has ended.
        why: The reason why it was stopped.
        on_progress: Called after each of its messages.
    """

    agent: Agent
    prompt: str
    description: str
    isolation: str = "none"
    background: bool = False
    id: str = field(factory=_new_id)
    state: State = "waiting"
    session: Any = None
    file: str | None = None
    worktree: Worktree | None = None
    turns: int = 0
    usage: Usage = field(factory=Usage)
    result: ToolResult | None = None
    why: str = ""
    stopping: asyncio.Event = field(factory=asyncio.Event)
    ended: asyncio.Event = field(factory=asyncio.Event)
    on_progress: Callable[[], object] = bool

    @property
    def name(self) -> str:
        """The agent's name."""
        return self.agent.name

    @property
    def is_active(self) -> bool:
        """Whether the agent is running or waiting to run."""
        return not self.ended.is_set()

    @property
    def dollars(self) -> float:
        """The cost so far in US dollars."""
        return self.usage.cost.total

    def stop(self, why: str) -> None:
        """Request that the agent stops; it ends soon afterwards."""
        if self.is_active:
            self.why = self.why or why
            self.stopping.set()
            if self.session is not None:
                self.session.request_abort(why)

    def last_line(self) -> str:
        """Return the line that ends its result."""
        return f"[agent {self.id}, {_turns(self.turns)}, {price(self.dollars)}, session {self.file or '-'}]"

    def summary(self) -> str:
        """Return one line about it, for lists."""
        return summary_of(self.record())

    def record(self) -> dict[str, Any]:
        """Return the agent's record as plain data."""
        return {
            "id": self.id,
            "agent": self.name,
            "description": self.description,
            "status": self.state,
            "turns": self.turns,
            "dollars": self.dollars,
            "session": self.file,
            "worktree": str(self.worktree.path) if self.worktree is not None else None,
        }


def stored_record(data: Any) -> dict[str, Any] | None:
    """Return the record in an entry's data, all of its fields valid; None if it has no id.

    A session may come from another version: fields that are missing or of another type have their defaults.
    """
    known = data if isinstance(data, dict) else {}

    def text(name: str) -> str | None:
        value = known.get(name)
        return " ".join(value.split()) or None if isinstance(value, str) else None

    def number(name: str) -> int | float:
        value = known.get(name)
        return value if isinstance(value, int | float) and 0 <= value < _NO_AMOUNT else 0

    if text("id") is None:
        return None
    return {
        "id": text("id"),
        "agent": text("agent") or "-",
        "description": text("description") or "",
        "status": text("status") or "-",
        "turns": number("turns"),
        "dollars": number("dollars"),
        "session": text("session"),
        "worktree": text("worktree"),
    }


def summary_of(record: Mapping[str, Any]) -> str:
    """Return one line about an agent's record."""
    return rows_of([record])[0]


def rows_of(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line for each record, in columns: id, agent, status, turns, cost and description."""
    cells = [
        [each["id"], each["agent"], each["status"], _turns(each["turns"]), price(each["dollars"]), _about(each)]
        for each in records
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)][:-1]
    return ["  ".join([*map(str.ljust, row, widths), row[-1]]) for row in cells]


def _about(record: Mapping[str, Any]) -> str:
    return f"{record['description']}{'  (worktree)' if record.get('worktree') else ''}"


def _turns(number: int) -> str:
    return f"{number} turn{'' if number == 1 else 's'}"


def price(dollars: float) -> str:
    """Return an amount of dollars with four decimals."""
    return f"${dollars:.4f}"
