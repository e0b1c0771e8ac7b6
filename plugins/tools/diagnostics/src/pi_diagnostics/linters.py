"""Linters that read a text from standard input and print what they found as JSON: a process for each text."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from pi_diagnostics.delta import Finding
from pi_diagnostics.rpc import CheckFailure

if TYPE_CHECKING:
    from pi_process_kit import Child

__all__ = ["ARGUMENTS", "findings", "run"]

OUTPUT_LIMIT = 8 << 20
"""Bytes of a linter's output."""
_ESLINT_ERROR = 2

ARGUMENTS = {
    "ruff": ("check", "--quiet", "--no-fix", "--force-exclude", "--output-format", "json", "--stdin-filename"),
    "eslint": ("--format", "json", "--stdin", "--stdin-filename"),
}
"""What comes before the name of the file."""


async def run(child: Child, text: str) -> str:
    """Give a linter its text and return what it printed.

    Raises:
        CheckFailure: It failed; 0 and 1 are the exit codes of linters that work.
    """
    writing = asyncio.create_task(_write(child, text))
    try:
        printed = bytearray()
        while chunk := await child.stdout.read(1 << 16):
            printed += chunk
            if len(printed) > OUTPUT_LIMIT:
                raise CheckFailure("it printed more than the limit")
        code = await child.wait()
    finally:
        writing.cancel()
        child.kill()
        child.close()
    if code not in (0, 1):
        raise CheckFailure(f"it ended with exit code {code}")
    return printed.decode("utf-8", "replace")


async def _write(child: Child, text: str) -> None:
    try:
        child.stdin.write(text.encode())
        await child.stdin.drain()
    except (OSError, RuntimeError):
        return  # it does not read its input: its exit code shows what is wrong
    child.stdin.close()


def findings(kind: str, printed: str, source: str) -> list[Finding]:
    """Return the errors in a linter's output.

    Raises:
        CheckFailure: It is not what this linter prints.
    """
    if not printed.strip():  # a file that the project excludes
        return []
    try:
        values = json.loads(printed)
        return [_ruff(each, source) for each in values] if kind == "ruff" else _eslint(values, source)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise CheckFailure("it printed something other than its errors as JSON") from error


def _ruff(value: Any, source: str) -> Finding:
    place = value["location"]
    return Finding(int(place["row"]), int(place["column"]), str(value["message"]), str(value["code"] or ""), source)


def _eslint(values: Any, source: str) -> list[Finding]:
    return [
        Finding(
            int(each.get("line") or 1),
            int(each.get("column") or 1),
            str(each["message"]),
            str(each.get("ruleId") or ""),
            source,
        )
        for value in values
        for each in value["messages"]
        if each["severity"] == _ESLINT_ERROR
    ]
