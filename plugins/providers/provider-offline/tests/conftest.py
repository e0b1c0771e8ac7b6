"""A workbench: the seven tools in a small form on real files, and a loop that runs what the rules ask for."""

from __future__ import annotations

import fnmatch
import os
import re
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from attrs import define, field

from pi_hookspecs import (
    AssistantMessage,
    Context,
    StreamOptions,
    TextContent,
    Tool,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from pi_provider_offline.provider import PROVIDER, OfflineRules

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MODEL = PROVIDER.models[0]

MAX_LINES = 2000
MAX_BYTES = 51_200

PARAMETERS = {
    "read": {"path": "string", "offset": "number", "limit": "number"},
    "bash": {"command": "string", "timeout": "number"},
    "edit": {"path": "string", "edits": "array"},
    "write": {"path": "string", "content": "string"},
    "grep": dict.fromkeys(("pattern", "path", "glob", "ignoreCase", "literal", "context", "limit"), "string"),
    "find": dict.fromkeys(("pattern", "path", "limit"), "string"),
    "ls": dict.fromkeys(("path", "limit"), "string"),
}
REQUIRED = {
    "read": ["path"],
    "bash": ["command"],
    "edit": ["path", "edits"],
    "write": ["path", "content"],
    "grep": ["pattern"],
    "find": ["pattern"],
    "ls": [],
}


class ToolError(Exception):
    """A failed call; the text goes to the model."""


@define
class Bench:
    """A folder, what was asked in it, and every call that was made."""

    folder: Path
    messages: list[Any] = field(factory=list)
    turns: list[list[ToolCall]] = field(factory=list)
    refuse: Callable[[ToolCall], str | None] = field(default=lambda call: None)

    @property
    def calls(self) -> list[ToolCall]:
        return [call for turn in self.turns for call in turn]

    def write(self, name: str, text: str) -> Path:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
        return file

    async def answer_once(self, tools: str, messages: list[Any] | None = None, **options: Any) -> AssistantMessage:
        """Stream one answer to the conversation and return its message."""
        given = tuple(tool(name) for name in tools.split())
        context = Context(messages=tuple(self.messages if messages is None else messages), tools=given)
        events = [event async for event in OfflineRules().stream(MODEL, context, StreamOptions(**options))]
        return events[-1].message if events[-1].type == "done" else events[-1].error

    async def ask(self, request: str, tools: str = "read bash edit write") -> str:
        """Ask, run the tools that are called until there is an answer, and return its text."""
        self.messages.append(UserMessage(content=request))
        return await self.go_on(tools)

    async def go_on(self, tools: str = "read bash edit write") -> str:
        for _ in range(300):
            message = await self.answer_once(tools)
            self.messages.append(message)
            assert message.stop_reason in ("stop", "toolUse"), message.error_message
            if message.stop_reason == "stop":
                return message.text
            self.run(message)
        raise AssertionError("the rules never answered")

    def run(self, message: AssistantMessage) -> None:
        self.turns.append(list(message.tool_calls))
        for call in message.tool_calls:
            text, is_error = self._result(call)
            self.messages.append(
                ToolResultMessage(
                    tool_call_id=call.id, tool_name=call.name, content=(TextContent(text),), is_error=is_error
                )
            )

    def _result(self, call: ToolCall) -> tuple[str, bool]:
        reason = self.refuse(call)
        if reason is not None:
            return reason, True
        try:
            return getattr(self, f"_{call.name}")(**call.arguments), False
        except ToolError as error:
            return str(error), True

    def _read(self, path: str, offset: int = 1, limit: int | None = None) -> str:
        file = self._path(path)
        if not file.exists():
            raise ToolError(f"ENOENT: no such file or directory, access '{file}'")
        content = file.read_bytes()
        if b"\0" in content[:8192]:
            return f"[Binary file: application/octet-stream, {len(content)}B]"
        lines = content.decode("utf-8", "replace").split("\n")
        if offset > len(lines):
            raise ToolError(f"Offset {offset} is beyond end of file ({len(lines)} lines total)")
        wanted = lines[offset - 1 :][:limit]
        if len(wanted[0].encode()) > MAX_BYTES:
            return (
                f"[Line {offset} is 58.6KB, exceeds 50.0KB limit. Use bash: sed -n '{offset}p' {path} | head -c 51200]"
            )
        output = wanted[:MAX_LINES]
        by_bytes = False
        while len("\n".join(output).encode()) > MAX_BYTES:
            output.pop()
            by_bytes = True
        text, last = "\n".join(output), offset + len(output) - 1
        if len(output) < len(wanted):
            size = " (50.0KB limit)" if by_bytes else ""
            return (
                f"{text}\n\n[Showing lines {offset}-{last} of {len(lines)}{size}. Use offset={last + 1} to continue.]"
            )
        if last < len(lines):
            return f"{text}\n\n[{len(lines) - last} more lines in file. Use offset={last + 1} to continue.]"
        return text

    def _bash(self, command: str) -> str:
        done = subprocess.run(
            ["/bin/bash", "-c", command], cwd=self.folder, stdout=-1, stderr=subprocess.STDOUT, check=False
        )
        text = done.stdout.decode("utf-8", "replace")
        lines = text.split("\n")
        if len(lines) > MAX_LINES:
            tail = "\n".join(lines[-MAX_LINES:])
            first = len(lines) - MAX_LINES + 1
            text = f"{tail}\n\n[Showing lines {first}-{len(lines)} of {len(lines)}. Full output: /tmp/pi-bash-1.log]"
        text = text or "(no output)"
        if done.returncode:
            raise ToolError(f"{text}\n\nCommand exited with code {done.returncode}")
        return text

    def _write(self, path: str, content: str) -> str:
        file = self._path(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode())
        return f"Successfully wrote {len(content.encode())} bytes to {path}"

    def _edit(self, path: str, edits: list[dict[str, str]]) -> str:
        file = self._path(path)
        if not file.exists():
            raise ToolError(f"Could not edit file: {path}. Error code: ENOENT.")
        old, new = edits[0]["oldText"], edits[0]["newText"]
        text = file.read_bytes().decode()
        if text.count(old) > 1:
            raise ToolError(
                f"Found {text.count(old)} occurrences of the text in {path}. The text must be unique. "
                "Please provide more context to make it unique."
            )
        if not text.count(old):
            raise ToolError(f"Could not find the exact text in {path}. The old text must match exactly.")
        file.write_bytes(text.replace(old, new).encode())
        return f"Successfully replaced 1 block(s) in {path}."

    def _ls(self, path: str = ".", limit: int = 500) -> str:
        folder = self._path(path)
        if not folder.exists():
            raise ToolError(f"Path not found: {path}")
        names = sorted(f"{entry.name}/" if entry.is_dir() else entry.name for entry in folder.iterdir())
        if len(names) > limit:
            output = "\n".join(names[:limit])
            return f"{output}\n\n[{limit} entries limit reached. Use limit={2 * limit} for more]"
        return "\n".join(names) or "(empty directory)"

    def _find(self, pattern: str, path: str = ".", limit: int = 1000) -> str:
        root = self._path(path)
        found = [
            os.path.relpath(entry, root) + ("/" if entry.is_dir() else "")
            for entry in sorted(root.rglob("*"))
            if fnmatch.fnmatch(entry.name.lower(), pattern)
        ]
        return "\n".join(found[:limit]) or "No files found matching pattern"

    def _grep(self, pattern: str, path: str = ".", **options: Any) -> str:
        test = re.compile(
            re.escape(pattern) if options.get("literal") else pattern,
            re.IGNORECASE if options.get("ignoreCase") else 0,
        )
        root = self._path(path)
        files = [root] if root.is_file() else sorted(entry for entry in root.rglob("*") if entry.is_file())
        found = [
            f"{file.name if file == root else file.relative_to(root)}:{number}: {line}"
            for file in files
            for number, line in enumerate(file.read_text().split("\n"), 1)
            if test.search(line)
        ]
        return "\n".join(found) or "No matches found"

    def _path(self, path: str) -> Path:
        return self.folder / path


def tool(name: str) -> Tool:
    async def never(*_: Any) -> Any:
        raise AssertionError("the bench runs the tools itself")

    properties = {key: {"type": kind} for key, kind in PARAMETERS[name].items()}
    schema = {"type": "object", "properties": properties, "required": REQUIRED[name]}
    return Tool(name=name, description=name, parameters=schema, execute=never)


@pytest.fixture
def bench(tmp_path):
    """An empty folder and the seven tools in it."""
    return Bench(tmp_path)


@pytest.fixture(scope="session")
def make_bench(tmp_path_factory):
    """Return a function that makes an empty workbench, for tests that need a new one per example."""
    return lambda: Bench(tmp_path_factory.mktemp("bench"))


@pytest.fixture(scope="session")
def make_tool():
    """Return the function that makes one of the seven tools by name."""
    return tool
