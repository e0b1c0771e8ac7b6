"""The table of docs/guardrails.md: each command with the guard's verdict and reason."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pi_guardrails._findings import worst
from pi_guardrails._judge import judge_command
from pi_guardrails._paths import Places

PAGE = Path(__file__).parents[4] / "docs" / "guardrails.md"
PLACES = Places(cwd="/home/ann/project", home="/home/ann", agent_dir="/home/ann/.pi/agent")

_ROW = re.compile(r"\| (`+) ?(.*?) ?\1 \| (\w+) \| ([\w-]*) \| (.*?) \|")


def rows() -> list[tuple[str, ...]]:
    found = []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        match = _ROW.fullmatch(line)
        if match is not None:
            found.append(tuple(cell.replace("\\|", "|").replace("↵", "\n") for cell in match.groups()[1:]))
    return found


@pytest.mark.parametrize(("command", "verdict", "rule", "reason"), rows())
def test_the_page_says_what_the_guard_does(command: str, verdict: str, rule: str, reason: str) -> None:
    gravest = worst(judge_command(command, PLACES))

    found = ("allow", "", "") if gravest is None else (gravest.verdict, gravest.rule, gravest.why)
    assert found == (verdict, rule, reason)


def test_every_row_of_the_page_is_read() -> None:
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]

    assert len(rows()) == len(lines) >= 40
