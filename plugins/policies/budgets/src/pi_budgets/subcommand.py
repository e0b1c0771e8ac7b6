"""``pi usage``: what the requests in the ledger used, by day, model, plugin or project."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from attrs import define

from pi_budgets.ledger import Ledger
from pi_budgets.line import ledger_file
from pi_hookspecs.hidden import is_visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pi_budgets.ledger import Line

__all__ = ["run_subcommand"]

_KEYS: dict[str, Callable[[Line], str]] = {
    "day": lambda line: line.day,
    "model": lambda line: line.model,
    "plugin": lambda line: f"agent:{line.agent}" if line.agent else line.plugin or line.purpose,
    "project": lambda line: line.project,
}
_TOKENS = ("input", "output", "cacheRead", "cacheWrite")


@define
class _Sum:
    """The sum of some requests."""

    dollars: float = 0.0
    requests: int = 0
    input: int = 0
    output: int = 0
    cacheRead: int = 0  # noqa: N815 - as in the ledger
    cacheWrite: int = 0  # noqa: N815 - as in the ledger

    def add(self, line: Line) -> None:
        self.dollars += line.dollars
        self.requests += 1
        for name in _TOKENS:
            setattr(self, name, getattr(self, name) + getattr(line, name))

    @property
    def tokens(self) -> dict[str, int]:
        tokens = {name: getattr(self, name) for name in _TOKENS}
        return {**tokens, "total": sum(tokens.values())}

    def as_json(self) -> dict[str, Any]:
        return {"dollars": round(self.dollars, 10), "requests": self.requests, "tokens": self.tokens}


def run_subcommand(arguments: list[str], host: Any) -> int:
    """Run ``pi usage``; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="pi usage",
        description="Show what the requests of all sessions used, from usage/ledger.jsonl in the agent directory.",
    )
    parser.add_argument("--by", choices=_KEYS, default="day", help="what each row is (default: day)")
    parser.add_argument("--json", action="store_true", help="write JSON")
    try:
        options = parser.parse_args(arguments)
    except SystemExit as end:  # argparse has written what is wrong, or the help
        return int(end.code or 0)
    ledger = Ledger(ledger_file(host.settings.agent_dir))
    try:
        total, rows = _sums(ledger.new_lines(), _KEYS[options.by])
    except OSError as error:
        sys.stderr.write(f"Error: {ledger.file}: {error.strerror or error}\n")
        return 1
    for damage in ledger.damages:
        sys.stderr.write(f"Warning: {damage}\n")
    ordered = sorted(rows.items(), key=lambda row: row[0] if options.by == "day" else (-row[1].dollars, row[0]))
    if options.json:
        found = [{"key": key, **each.as_json()} for key, each in ordered]
        sys.stdout.write(json.dumps({"total": total.as_json(), "rows": found}, ensure_ascii=False, indent=2) + "\n")
    else:
        sys.stdout.write("".join(f"{row}\n" for row in _table(options.by, [*ordered, ("total", total)])))
    return 0


def _sums(lines: Iterable[Line], key: Callable[[Line], str]) -> tuple[_Sum, dict[str, _Sum]]:
    total, rows = _Sum(), dict[str, _Sum]()
    for line in lines:
        total.add(line)
        rows.setdefault(key(line), _Sum()).add(line)
    return total, rows


def _visible(name: str) -> str:
    """Return the name of a folder or model with what a terminal would execute or not display escaped."""
    return name if is_visible(name) and name.isprintable() else ascii(name)[1:-1]


def _table(by: str, rows: list[tuple[str, _Sum]]) -> list[str]:
    cells = [(by, "dollars", "requests", "tokens")]
    cells += [
        (_visible(key), f"{each.dollars:.4f}", f"{each.requests:,}", f"{each.tokens['total']:,}") for key, each in rows
    ]
    wide = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        f"{key:<{wide[0]}}  {dollars:>{wide[1]}}  {requests:>{wide[2]}}  {tokens:>{wide[3]}}"
        for key, dollars, requests, tokens in cells
    ]
