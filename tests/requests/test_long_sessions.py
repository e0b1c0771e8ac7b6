"""What steps of the longest sessions read and make: what is new, or everything once, and never more."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

import pi_compaction
import pi_export_html
import pi_redact
import pi_session_jsonl
import pi_session_kit.entries
from pi_compaction import context_messages
from pi_core import SessionManager, create_agent_session
from pi_core.session.tree import SessionTree
from pi_redact.redactor import Redactor
from pi_testing import text, tool_call
from pi_testing.session import session_options

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pi_core import AgentSession, PluginHost
    from pi_testing import FakeTool, FakeUI, PiOptions, ScriptedProvider

PLUGINS = {
    "session-jsonl": pi_session_jsonl,
    "compaction": pi_compaction,
    "export-html": pi_export_html,
    "redact": pi_redact,
}
SETTINGS = {
    "compaction": {"enabled": False, "keepRecentTokens": 1000},
    "hooks": {"timeout": 3600, "blockTimeout": 3600},  # a loaded machine takes longer than a person would wait
}

pytestmark = [pytest.mark.slow, pytest.mark.pi(plugins=PLUGINS, settings=SETTINGS)]

MESSAGES = 50_000
MEGABYTES = 50
CALLS = 10_000
FEW = 100
"""Entries that a step may read besides those that it is about: at the end of the branch, settings, labels."""
STAMP = "2026-01-01T00:00:00.000Z"
USAGE = {"input": 1, "output": 1, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 2}
COST = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}
ANSWER = {"api": "a", "provider": "p", "model": "m", "usage": {**USAGE, "cost": COST}, "timestamp": 1}


def messages(count: int) -> Iterator[dict[str, Any]]:
    """Yield a question, a call, its result and an answer, until there are enough."""
    for number in range(0, count, 4):
        call = {"type": "toolCall", "id": f"c{number}", "name": "read", "arguments": {"path": f"{number}.py"}}
        body = [{"type": "text", "text": f"Number {number} is here, as it was."}]
        yield {"role": "user", "content": body, "timestamp": 1}
        yield {"role": "assistant", "content": [call], **ANSWER, "stopReason": "toolUse"}
        result = {"toolCallId": call["id"], "toolName": "read", "isError": False, "content": body}
        yield {"role": "toolResult", **result, "timestamp": 1}
        yield {"role": "assistant", "content": body, **ANSWER, "stopReason": "stop"}


def write(file: Path, found: Iterator[dict[str, Any]]) -> Path:
    """Write a session of these messages, one after the other."""
    rows: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": "s1", "timestamp": STAMP, "cwd": str(file.parent)}
    ]
    for number, message in enumerate(found):
        parent = f"e{number - 1}" if number else None
        rows.append({"type": "message", "id": f"e{number}", "parentId": parent, "timestamp": STAMP, "message": message})
    file.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows), encoding="utf-8")
    return file


class Reads:
    """Counts what is read of a session's file, and what a compaction estimates."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._counts: Counter[str] = Counter()
        for module, name in (
            (pi_session_kit.entries, "entry_from_wire"),
            (pi_session_kit.entries, "message_from_wire"),
            (context_messages, "estimate_tokens"),
        ):
            self._count(monkeypatch, module, name)

    def _count(self, monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> None:
        work = getattr(module, name)

        def counted(*given: Any) -> Any:
            self._counts[name] += 1
            return work(*given)

        monkeypatch.setattr(module, name, counted)

    def since(self, *names: str) -> int:
        """Return how often these were called since this was last asked of any."""
        count = sum(self._counts[name] for name in names or ("entry_from_wire", "message_from_wire"))
        self._counts.clear()
        return count


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Reads:
    """Return what counts the reads of a session's file."""
    return Reads(monkeypatch)


class Cleaned:
    """Counts the characters from which secrets are taken out."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._count = 0
        redact = Redactor.redact

        def counted(redactor: Redactor, said: str) -> str:
            self._count += len(said)
            return redact(redactor, said)

        monkeypatch.setattr(Redactor, "redact", counted)

    def since(self) -> int:
        """Return how many there were since this was last asked."""
        count, self._count = self._count, 0
        return count


@pytest.fixture
def cleaned(monkeypatch: pytest.MonkeyPatch) -> Cleaned:
    """Return what counts the characters from which secrets are taken out."""
    return Cleaned(monkeypatch)


@pytest.fixture
def open_session(
    tmp_path: Path,
    script: ScriptedProvider,
    fake_ui: FakeUI,
    pi_options: PiOptions,
    pi_host: PluginHost,
    fake_tools: dict[str, FakeTool],
) -> Any:
    """Return what opens a session's file with the scripted model."""

    def opened(file: Path) -> AgentSession:
        options = session_options(
            cwd=tmp_path, script=script, ui=fake_ui, options=pi_options, host=pi_host, fake_tools=fake_tools
        )
        return create_agent_session(**{**options, "session_manager": SessionManager.open(file, host=pi_host)})

    return opened


async def test_each_step_of_fifty_thousand_messages_reads_them_once_or_not_at_all(
    tmp_path: Path, script: ScriptedProvider, open_session: Any, reads: Reads
) -> None:
    session = open_session(write(tmp_path / "session.jsonl", messages(MESSAGES)))
    async with session:
        assert reads.since() < MESSAGES + FEW

        manager = session.session_manager
        for _ in range(2):
            assert sum(1 for _ in manager.get_entries().lines()) == MESSAGES
            assert reads.since() < FEW

        script.turn(text("One.")).turn(text("Two.")).turn(text("Three."))
        for prompt in ("one", "two", "three"):
            await session.prompt(prompt)
            assert reads.since() < FEW

        for _ in range(2):
            assert sum(1 for _ in manager.message_lines(session.messages)) == MESSAGES + 6
            assert reads.since() < FEW

        page = await session.export_html(tmp_path / "page.html")
        assert page.read_text(encoding="utf-8").count("<article") == 3 * MESSAGES // 4 + 6
        assert reads.since() < MESSAGES + FEW

        script.turn(text("A summary.")).turn(text("How its last turn began."))
        await session.compact()
        assert MESSAGES <= reads.since("estimate_tokens") < MESSAGES + FEW
        script.turn(text("Four."))
        await session.prompt("four")
        assert len(script.requests[-1].messages) < 4 * FEW


async def test_a_message_of_fifty_megabytes_is_cleaned_when_it_is_stored_and_exported_and_at_no_other_time(
    tmp_path: Path, script: ScriptedProvider, open_session: Any, cleaned: Cleaned
) -> None:
    said = "It was a dark and stormy night.\n" * (MEGABYTES * 2**20 // 32)
    session = open_session(write(tmp_path / "session.jsonl", messages(4)))
    async with session:
        script.turn(text("Long.")).turn(text("Still long.")).turn(text("A summary.")).turn(text("Short."))
        await session.prompt(said)
        assert len(said) < cleaned.since() < 2 * len(said)
        assert script.requests[-1].user_text == said

        await session.prompt("and now?")
        assert cleaned.since() < len(said) // 100
        assert sum(map(len, session.session_manager.message_lines(session.messages))) > len(said)
        assert cleaned.since() == 0

        page = await session.export_html(tmp_path / "page.html")
        assert len(said) < cleaned.since() < 2 * len(said)
        assert page.stat().st_size > len(said)

        await session.compact()
        assert cleaned.since() < len(said) // 100
        assert len(script.requests[-1].user_text) < len(said) // 10
        await session.prompt("and now?")
        assert len(script.requests[-1].user_text) < 100


async def test_ten_thousand_calls_of_one_answer_are_stored_and_cleaned_once(
    tmp_path: Path, script: ScriptedProvider, open_session: Any, cleaned: Cleaned, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = SessionTree.entry
    numbers: Counter[int] = Counter()
    monkeypatch.setattr(SessionTree, "entry", lambda tree, number: (numbers.update((number,)), read(tree, number))[1])
    session = open_session(write(tmp_path / "session.jsonl", messages(4)))
    async with session:
        calls = [tool_call("read", path=f"{number}.py") for number in range(CALLS)]
        script.turn(*calls).turn(text("Done."))
        cleaned.since()
        await session.prompt("read them")

        results = [each for each in session.messages if each.role == "toolResult"]
        assert len(results) == CALLS + 1
        assert max(numbers.values()) < FEW
        assert numbers.total() < 4 * CALLS
        assert cleaned.since() < 500 * CALLS

        script.turn(text("Yes."))
        await session.prompt("all of them?")
        assert cleaned.since() < FEW * 100
