"""Reads the ledger and sums it up."""

from __future__ import annotations

import json
import os
from datetime import date
from functools import lru_cache
from math import isfinite
from types import NoneType
from typing import TYPE_CHECKING, Any

from attrs import define, field, frozen

from pi_budgets.amounts import Amounts, add
from pi_budgets.line import check_is_file

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Damage", "Ledger", "Line", "names_of"]


@frozen(kw_only=True)
class Line:
    """One request.

    Attributes:
        id: The request's id; a line whose id was read before does not count again.
        at: When it ended, ISO 8601 in UTC.
        day: The user's own date.
        project: The working directory of the session, or of the session that a child session works for.
        plugin: The plugin that made it; None for the conversation and for programs.
        agent: The name of the child session; None for others.
        model: ``provider/id``.
        seconds: Duration of the request and of the tool calls before it, if measured.
        toolCalls: Tool calls since the previous request, if counted.
    """

    id: str
    at: str
    day: str
    session: str
    project: str
    plugin: str | None = None
    agent: str | None = None
    purpose: str
    model: str
    input: int = 0
    output: int = 0
    cacheRead: int = 0  # noqa: N815 - as in the file
    cacheWrite: int = 0  # noqa: N815 - as in the file
    dollars: float = 0.0
    seconds: float = 0.0
    toolCalls: int = 0  # noqa: N815 - as in the file

    @property
    def names(self) -> tuple[str | None, ...]:
        """The budgets that it counts for: the overall one, its plugin's, its agent's."""
        return names_of(self.plugin, self.agent)

    @property
    def amounts(self) -> Amounts:
        """What it used, by measure."""
        return {
            "dollars": self.dollars,
            "tokens": self.input + self.output + self.cacheRead + self.cacheWrite,
            "requests": 1,
            "seconds": self.seconds,
            "toolCalls": self.toolCalls,
        }


def names_of(plugin: str | None, agent: str | None) -> tuple[str | None, ...]:
    """Return the names in ``budgets.by`` that a request counts for; None stands for the overall budget."""
    return (None, *([plugin] if plugin else []), *([f"agent:{agent}"] if agent else []))


@frozen
class Damage:
    """A line that cannot be read; it does not count."""

    file: str
    number: int

    def __str__(self) -> str:
        return f"{self.file}:{self.number}: this line of the ledger is damaged and is ignored"


@define(eq=False)
class Ledger:
    """Reads the ledger incrementally and sums it up.

    Attributes:
        file: Its path.
        latest_day: The latest day that a line has.
        damages: The lines that could not be read.
    """

    file: str
    latest_day: str = ""
    damages: list[Damage] = field(factory=list)
    _sums: dict[tuple[str | None, str, str], Amounts] = field(factory=dict)
    _seen: set[str] = field(factory=set)
    _offset: int = 0
    _number: int = 0
    _inode: int = 0

    def refresh(self) -> None:
        """Read the lines appended since the last call; everything if the file was replaced or truncated.

        Raises:
            OSError: It exists and cannot be read.
        """
        for line in self.new_lines():
            self.latest_day = max(self.latest_day, line.day)
            amounts = line.amounts
            for who in line.names:
                for key in ((who, "day", line.day), (who, "project", line.project), (who, "total", "")):
                    add(self._sums.setdefault(key, {}), amounts)

    def new_lines(self) -> Iterator[Line]:
        """Yield the appended lines, each request once."""
        if not check_is_file(self.file):
            self._forget()
            return
        with open(self.file, "rb") as file:
            status = os.fstat(file.fileno())
            if status.st_ino != self._inode or status.st_size < self._offset:
                self._forget()
                self._inode = status.st_ino
            file.seek(self._offset)
            for text in file:
                if not text.endswith(b"\n"):
                    return  # it is being written
                self._offset += len(text)
                self._number += 1
                if text.strip() and (line := self._parsed(text)) is not None:
                    yield line

    def used(self, who: str | None, scope: str, project: str, today: str) -> Amounts:
        """Return what was used in a scope.

        Args:
            who: A plugin, ``agent:NAME``, or None for everything.
            scope: ``day``, ``project`` or ``total``.
            project: The project that counts.
            today: The current date; if the clock was set back, the ledger's latest day is used.
        """
        key = {"day": max(today, self.latest_day), "project": project}.get(scope, "")
        return self._sums.get((who, scope, key), {})

    def _parsed(self, text: bytes) -> Line | None:
        try:
            line = _line_of(json.loads(text))
        except (ValueError, TypeError, KeyError, RecursionError):
            self.damages.append(Damage(self.file, self._number))
            return None
        if line.id in self._seen:
            return None
        self._seen.add(line.id)
        return line

    def _forget(self) -> None:
        self._offset = self._number = self._inode = 0
        self.latest_day = ""
        self._sums.clear()
        self._seen.clear()
        self.damages.clear()


_TEXTS = ("id", "at", "day", "session", "project", "purpose", "model")
_NAMES = ("plugin", "agent")
_NUMBERS = ("input", "output", "cacheRead", "cacheWrite", "dollars", "seconds", "toolCalls")


def _line_of(value: Any) -> Line:
    """Parse a line; unknown fields are ignored.

    Raises:
        ValueError: It is none.
    """
    texts = {name: value[name] for name in _TEXTS}
    numbers = {name: value.get(name, 0) for name in _NUMBERS}
    names = {name: value.get(name) for name in _NAMES}
    if {*map(type, texts.values())} != {str} or not {*map(type, names.values())} <= {str, NoneType}:
        raise ValueError("a string is missing")
    if not {*map(type, numbers.values())} <= {int, float} or min(numbers.values()) < 0:
        raise ValueError("a number is missing")
    if not isfinite(sum(numbers.values())):
        raise ValueError("a number is not finite")
    _check_day(texts["day"])
    return Line(**texts, **numbers, **names)


@lru_cache(maxsize=8)
def _check_day(text: str) -> None:
    """Check that a text is a date.

    Raises:
        ValueError: It is none.
    """
    date.fromisoformat(text)
