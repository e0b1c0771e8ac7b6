"""Finds content from outside the project that this prompt has read, which may contain an injected request to remember.

It needs no state: the calls since the user's last message are in the session.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from pi_core import escapes_root
from pi_hookspecs import AssistantMessage, ToolResultMessage, UserMessage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pi_hookspecs import PiContext, ToolCall

__all__ = ["outside_sources"]

_WITH_PATH = frozenset({"read", "grep", "find", "ls", "edit", "write"})
_HARMLESS = frozenset({"remember", "forget", "load_skill", "create_skill"})
_NETWORK = re.compile(
    r"\w://|(?<![\w./-])(curl|wget|ssh|scp|sftp|rsync|ftp|nc|ncat|telnet|http|https|aria2c|lynx|w3m|gh|glab|dig|nslookup"
    r"|git\s+(clone|fetch|pull|ls-remote|submodule)|(npm|pnpm|yarn|pip3?|uv|cargo|gem|docker|kubectl|aws|gcloud|az)\s)\b"
)
_PATH = re.compile(r"(?<![\w./~-])(?:~|\.\.|/)[^\s'\"`;|&<>()$]*")
_SHOWN = 80


def outside_sources(ctx: PiContext) -> list[str]:
    """Return descriptions of the calls since the user's last message whose results may contain third-party text."""
    answered: set[str] = set()
    found: list[str] = []
    for entry in reversed(ctx.session.branch()):
        message = getattr(entry, "message", None)
        if isinstance(message, UserMessage):
            break
        if isinstance(message, ToolResultMessage):
            answered.add(message.tool_call_id)
        elif isinstance(message, AssistantMessage):
            calls = [call for call in message.tool_calls if call.id in answered]
            found += [each for call in reversed(calls) if (each := _source(call, ctx.cwd)) is not None]
    return list(dict.fromkeys(reversed(found)))


def _source(call: ToolCall, cwd: Path) -> str | None:
    arguments = call.arguments
    if call.name in _HARMLESS:
        return None
    if call.name in _WITH_PATH:
        path = str(arguments.get("path") or ".")
        return f"{call.name} {path}"[:_SHOWN] if _escapes_root(path, cwd) else None
    if call.name == "bash":
        command = str(arguments.get("command", ""))
        return f"bash {command}"[:_SHOWN] if _may_read_outside(command, cwd) else None
    return call.name  # an unknown tool, which may read anything


def _may_read_outside(command: str, cwd: Path) -> bool:
    """Return whether a command may read from the network or from other folders; in doubt it may."""
    return _NETWORK.search(command) is not None or any(_escapes_root(path, cwd) for path in _paths(command))


def _paths(command: str) -> Iterator[str]:
    yield from (path for path in _PATH.findall(command) if path not in ("/dev/null", "/dev/stdout", "/dev/stderr"))


def _escapes_root(path: str, cwd: Path) -> bool:
    path = path.removeprefix("@").removeprefix("file://")
    return escapes_root(os.path.join(cwd, os.path.expanduser(path)), cwd)  # noqa: PTH111, PTH118 - it may be no path
