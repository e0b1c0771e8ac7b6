"""The checks of a run: commands, files, tool calls, cost and the answer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeAlias

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable
    from pathlib import Path

    from pi_eval.run import Record

    RunCommand: TypeAlias = Callable[[str], Awaitable[tuple[int, str]]]

__all__ = ["CheckResult", "check_run"]

_TAIL = 500


@frozen
class CheckResult:
    """A check of one run, and why it failed."""

    check: str
    passed: bool
    why: str = ""


async def check_run(
    checks: Iterable[dict[str, Any]], record: Record, work: Path, run_command: RunCommand
) -> list[CheckResult]:
    """Check a completed run.

    Args:
        checks: The checks from the evaluation file.
        record: What pi did.
        work: The folder of the run.
        run_command: Runs a command there; returns exit code and output.
    """
    return [await _check(each, record, work, run_command) for each in checks]


async def _check(check: dict[str, Any], record: Record, work: Path, run_command: RunCommand) -> CheckResult:
    if "command" in check:
        code, output = await run_command(check["command"])
        why = f"exit code {code}: {output[-_TAIL:].strip()}" if code else ""
        return _result(f"command {check['command']}", why)
    if "file" in check:
        return _result(f"file {check['file']}", _file(check, work))
    if "tool" in check:
        return _result(_tool_name(check), _tool(check, record.calls))
    return _of_answer(check, record)


def _of_answer(check: dict[str, Any], record: Record) -> CheckResult:
    if "cost" in check:
        over = record.dollars > check["cost"]
        return _result(f"cost at most {check['cost']}", f"it cost {record.dollars:.6f}" if over else "")
    if "requests" in check:
        over = record.requests > check["requests"]
        return _result(f"at most {check['requests']} requests", f"there were {record.requests}" if over else "")
    if "answer" in check:
        return _result(f"answer contains {check['answer']!r}", _text(record.answer, contains=check["answer"]))
    return _result(f"answer matches {check['matches']!r}", _text(record.answer, matches=check["matches"]))


def _result(name: str, why: str) -> CheckResult:
    return CheckResult(name, not why, why)


def _text(text: str, contains: str | None = None, matches: str | None = None) -> str:
    if contains is not None and contains not in text:
        return f"{contains!r} is not in {text[-_TAIL:]!r}"
    if matches is not None and re.search(matches, text, re.MULTILINE) is None:
        return f"{matches!r} does not match {text[-_TAIL:]!r}"
    return ""


def _file(check: dict[str, Any], work: Path) -> str:
    path = work / check["file"]
    if check.get("absent"):
        return "it exists" if path.exists() else ""
    if not path.is_file():
        return "it does not exist" if not path.exists() else "it is not a file"
    if "contains" in check or "matches" in check:
        text = path.read_text(encoding="utf-8", errors="replace")
        return _text(text, check.get("contains"), check.get("matches"))
    return ""


def _tool_name(check: dict[str, Any]) -> str:
    if check.get("never"):
        return f"tool {check['tool']} never called"
    times = f" {check['times']} times" if "times" in check else ""
    arguments = f" with {check['arguments']}" if "arguments" in check else ""
    return f"tool {check['tool']} called{times}{arguments}"


def _tool(check: dict[str, Any], calls: list[dict[str, Any]]) -> str:
    wanted = check.get("arguments", {})
    count = sum(
        call["name"] == check["tool"] and all(call["arguments"].get(key) == value for key, value in wanted.items())
        for call in calls
    )
    names = ", ".join(call["name"] for call in calls) or "none"
    if check.get("never"):
        return f"it was called {count} times" if count else ""
    if "times" in check:
        return "" if count == check["times"] else f"it was called {count} times; calls: {names}"
    return "" if count else f"there was no such call; calls: {names}"
