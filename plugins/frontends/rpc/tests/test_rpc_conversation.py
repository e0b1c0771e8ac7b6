"""A recorded conversation that uses every command, said again: the answers and events are the same to the letter.

``RECORD_RPC=1`` writes it anew. Ids, times and folders are replaced by what they stand for. So is the estimate of what
is left after a compaction: it counts the system prompt, which names the folder, whose length differs.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from pi_client.commands import COMMANDS
from pi_testing import text, tool_call, usage

RECORD = Path(__file__).with_name("conversation.jsonl")
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SETTLED = "agent_settled"

STEPS: list[tuple[dict[str, Any], str]] = [
    ({"type": "get_state"}, ""),
    ({"type": "get_available_models"}, ""),
    ({"type": "set_model", "provider": "scripted", "modelId": "model"}, ""),
    ({"type": "set_model", "provider": "scripted", "modelId": "other"}, ""),
    ({"type": "cycle_model"}, ""),
    ({"type": "get_available_thinking_levels"}, ""),
    ({"type": "set_thinking_level", "level": "high"}, ""),
    ({"type": "set_thinking_level", "level": "enormous"}, ""),
    ({"type": "cycle_thinking_level"}, ""),
    ({"type": "set_steering_mode", "mode": "all"}, ""),
    ({"type": "set_follow_up_mode", "mode": "all"}, ""),
    ({"type": "set_auto_compaction", "enabled": False}, ""),
    ({"type": "set_auto_retry", "enabled": False}, ""),
    ({"type": "set_session_name", "name": "  A talk  "}, ""),
    ({"type": "set_session_name", "name": " "}, ""),
    ({"type": "get_last_assistant_text"}, ""),
    ({"type": "export_html"}, ""),
    ({"type": "clone"}, ""),
    ({"type": "follow_up", "message": "And then?"}, ""),
    ({"type": "steer", "message": "Be brief."}, ""),
    ({"type": "take_queued", "queue": "steer", "place": 0}, ""),
    ({"type": "take_queued", "queue": "steer", "place": 0}, ""),
    ({"type": "steer", "message": "Be briefer."}, ""),
    ({"type": "clear_queue"}, ""),
    ({"type": "prompt", "message": "Hello"}, SETTLED),
    ({"type": "bash", "command": "printf hi"}, ""),
    ({"type": "abort_bash"}, ""),
    ({"type": "abort_retry"}, ""),
    ({"type": "abort"}, ""),
    (
        {"type": "prompt", "message": "Look", "images": [{"type": "image", "data": PIXEL, "mimeType": "image/png"}]},
        SETTLED,
    ),
    ({"type": "get_messages"}, ""),
    ({"type": "get_session_stats"}, ""),
    ({"type": "get_last_assistant_text"}, ""),
    ({"type": "get_commands"}, ""),
    ({"type": "get_fork_messages"}, ""),
    ({"type": "get_entries"}, ""),
    ({"type": "get_entries", "since": "<entry-5>"}, ""),
    ({"type": "get_entries", "since": "nothing"}, ""),
    ({"type": "get_tree"}, ""),
    ({"type": "compact", "customInstructions": "Keep the greeting"}, ""),
    ({"type": "get_session_stats"}, ""),
    ({"type": "export_html", "outputPath": "talk.html"}, ""),
    ({"type": "fork", "entryId": "<entry-1>"}, ""),
    ({"type": "fork", "entryId": "<user>"}, ""),
    ({"type": "get_state"}, ""),
    ({"type": "new_session"}, ""),
    ({"type": "switch_session", "sessionPath": "<session>"}, ""),
    ({"type": "clone"}, ""),
    ({"type": "get_state"}, ""),
    ({"type": "get_fork_messages"}, ""),
    ({"type": "navigate_tree", "entryId": "<user>"}, ""),
    ({"type": "navigate_tree", "entryId": "nothing"}, ""),
]
"""Commands, and the event up to which to listen where it is not the response."""


class Names:
    """Replaces ids by names and back."""

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)
        self._names: dict[str, str] = {}
        self.real: dict[str, str] = {}

    def hide(self, line: dict[str, Any]) -> Any:
        output = json.dumps(line, ensure_ascii=False)
        output = re.sub(r"\b\d{4}-\d\d-\d\dT[\d:-]+(\.\d+|-\d+)?Z", "<time>", output)
        output = re.sub(r'("(?:timestamp|durationMs|estimatedTokensAfter)": )\d+', r"\g<1>0", output)
        output = re.sub(
            r"(?<![0-9a-f])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}", lambda found: self._name("session", found[0]), output
        )
        output = re.sub(r'"([0-9a-f]{8})"', lambda found: f'"{self._name("entry", found[1])}"', output)
        return json.loads(output.replace(self._folder, "<folder>"))

    def _name(self, kind: str, real: str) -> str:
        name = self._names.get(real)
        if name is None:
            number = sum(each.startswith(f"<{kind}-") for each in self._names.values()) + 1
            name = self._names[real] = f"<{kind}-{number}>"
            self.real[name] = real
        return name

    def resolve(self, command: dict[str, Any]) -> dict[str, Any]:
        return {
            name: self.real.get(value, value) if isinstance(value, str) else value for name, value in command.items()
        }


@pytest.mark.pi(
    plugins=[],
    entry_points=["tools", "compaction", "session-jsonl", "export-html"],
    settings={"compaction": {"keepRecentTokens": 1, "reserveTokens": 1000}},
    tools=["ls"],
)
async def test_every_command_is_answered_as_recorded(talk, script, tmp_path):
    script.turn(text("Hello there.", chunks=2), usage(input=10, output=3))
    script.turn(text("I look."), tool_call("ls", path="."), usage(input=20, output=5))
    script.turn(text("Nothing to see."), usage(input=30, output=4))
    script.turn(text("They greeted each other."), usage(input=40, output=5))
    script.turn(text("And looked."), usage(input=50, output=3))
    names = Names(tmp_path)
    conversation = []

    for number, (command, until) in enumerate(STEPS):
        talk.lines.clear()
        talk.send(id=number, **names.resolve(command))
        await talk.until(lambda line: line.get("type") == "response" and line.get("id") == number)  # noqa: B023
        if until:
            await talk.event(until)
        await remember(command, talk.lines[-1], names)
        conversation.append({"say": command, "hear": [names.hide(line) for line in talk.lines]})

    if os.environ.get("RECORD_RPC"):
        RECORD.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in conversation))
    recorded = [json.loads(line) for line in RECORD.read_text().splitlines()]
    for exchange, known in zip(conversation, recorded, strict=True):
        assert exchange == known


async def remember(command: dict[str, Any], line: dict[str, Any], names: Names) -> None:
    """Keep what later commands name."""
    if command["type"] == "get_fork_messages":
        names.real["<user>"] = line["data"]["messages"][1]["entryId"]
    elif command["type"] == "get_session_stats":
        names.real["<session>"] = line["data"]["sessionFile"]


def test_the_conversation_uses_every_command():
    assert {command["type"] for command, _ in STEPS} == set(COMMANDS)
