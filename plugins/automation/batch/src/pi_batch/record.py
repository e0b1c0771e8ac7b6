"""The result of a task: one line of the results file, with the totals of its sessions."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

from attrs import asdict, define, field, fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

__all__ = ["Record", "csv_lines", "session_totals"]

_COUNTS = ("input", "output", "cacheRead", "cacheWrite", "totalTokens")


@define(eq=False, kw_only=True)
class Record:
    """The result of a task.

    Attributes:
        status: ``done`` or ``failed``.
        score: Whether the check passed; None if there is no check or it was not run.
        error: Why the task failed.
        usage: The tokens of all its sessions, including failed attempts.
        dollars: The cost of all its sessions, including failed attempts.
        seconds: From the first attempt of this run to the end of the last.
        session: The file of the last session, below the folder of results.
        patch: The file with its changes, likewise; None if nothing was changed or the folder was not a repository.
        model: The model that answered, as ``PROVIDER/ID``.
    """

    id: str
    status: str = "failed"
    score: bool | None = None
    error: str | None = None
    answer: str = ""
    usage: dict[str, int] = field(factory=dict)
    dollars: float = 0.0
    seconds: float = 0.0
    session: str | None = None
    patch: str | None = None
    attempts: int = 0
    model: str | None = None

    @classmethod
    def from_line(cls, line: str | bytes) -> Record:
        """Read a line of the results.

        Raises:
            ValueError: It is not a result.
        """
        data = json.loads(line)
        if not isinstance(data, dict) or not isinstance(data.get("id"), str):
            raise ValueError("it is not a result of a task")  # noqa: TRY004 - one kind for the caller
        return cls(**{each.name: data[each.name] for each in fields(cls) if each.name in data})

    def as_json(self) -> dict[str, Any]:
        """Return the line as a mapping."""
        return asdict(self)

    def as_line(self) -> str:
        """Return the line of the results."""
        return json.dumps(self.as_json(), ensure_ascii=False) + "\n"


def csv_lines(records: Iterable[Record]) -> Iterator[bytes]:
    """Yield the lines of a CSV table, first the names; each count of tokens has a column, what is None is empty."""
    names = [each.name for each in fields(Record)]
    place = names.index("usage")
    names[place : place + 1] = _COUNTS
    text = io.StringIO()
    writer = csv.DictWriter(text, names)
    writer.writeheader()
    yield text.getvalue().encode()
    for record in records:
        row = record.as_json()
        row |= dict.fromkeys(_COUNTS, 0) | row.pop("usage")
        row["score"] = None if record.score is None else str(record.score).lower()
        text.seek(0)
        text.truncate()
        writer.writerow({name: row[name] for name in names})
        yield text.getvalue().encode("utf-8", "replace")


def session_totals(folder: Path) -> tuple[dict[str, int], float]:
    """Return the tokens and dollars of all sessions in a folder."""
    tokens, dollars = dict.fromkeys(_COUNTS, 0), 0.0
    for file in sorted(folder.glob("*.jsonl")):
        with file.open("rb") as lines:
            for line in lines:
                if b'"assistant"' in line:
                    usage = _usage(line)
                    for name in _COUNTS:
                        tokens[name] += usage.get(name, 0)
                    dollars += usage.get("cost", {}).get("total", 0.0)
    return tokens, round(dollars, 9)


def _usage(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line).get("message", {})
    except ValueError:  # a line that a kill cut off
        return {}
    return message.get("usage") or {} if message.get("role") == "assistant" else {}
