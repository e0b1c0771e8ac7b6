"""``pi`` as a child: its events, what an answer says, and how it ended."""

from __future__ import annotations

import asyncio
import json

from hypothesis import given
from hypothesis import strategies as st

from pi_process_kit import PiAnswer, PiEnd, pi_events, run_pi

ANSWER = {
    "role": "assistant",
    "provider": "scripted",
    "model": "one",
    "content": [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "first"},
        {"type": "toolCall", "id": "1", "name": "read", "arguments": {"path": "a"}},
        {"type": "text", "text": "second"},
    ],
    "usage": {"totalTokens": 7, "cost": {"total": 0.5}},
    "stopReason": "toolUse",
}


def line_of(event: dict[str, object]) -> bytes:
    return json.dumps(event, separators=(",", ":")).encode() + b"\n"


async def read_events(pieces: list[bytes], *types: str) -> list[dict[str, object]]:
    stream = asyncio.StreamReader()
    for each in pieces:
        stream.feed_data(each)
    stream.feed_eof()
    return [each async for each in pi_events(stream, *types)]


@given(
    st.lists(st.tuples(st.sampled_from(["session", "message_end", "message_update"]), st.text())), st.integers(1, 40)
)
def test_the_events_that_are_asked_for_come_whole_however_the_stream_is_cut(events, size):
    whole = b"".join(line_of({"type": kind, "text": text}) for kind, text in events)
    pieces = [whole[at : at + size] for at in range(0, len(whole), size)]

    found = asyncio.run(read_events(pieces, "session", "message_end"))

    assert found == [{"type": kind, "text": text} for kind, text in events if kind != "message_update"]


async def test_a_line_that_is_longer_than_a_piece_is_read_or_left_out():
    long = "x" * 300_000
    whole = [line_of({"type": kind, "text": long}) for kind in ("message_update", "message_end", "message_update")]

    assert [each["text"] for each in await read_events(whole, "message_end")] == [long]


def test_an_answer_has_text_calls_and_cost():
    answer = PiAnswer.of({"type": "message_end", "message": ANSWER})

    assert answer == PiAnswer(
        text="first\nsecond",
        model="scripted/one",
        calls=({"name": "read", "arguments": {"path": "a"}},),
        tokens=7,
        dollars=0.5,
        stop_reason="toolUse",
        error=None,
    )


def test_an_answer_that_failed_says_why_and_other_events_are_none():
    failed = PiAnswer.of({"type": "message_end", "message": {**ANSWER, "stopReason": "error", "errorMessage": "full"}})

    cut = PiAnswer.of({"type": "message_end", "message": {**ANSWER, "stopReason": "length"}})

    assert failed is not None
    assert failed.error == "full"
    assert cut is not None
    assert cut.error == "the answer was cut at the model's output token limit"
    assert PiAnswer.of({"type": "message_end", "message": {"role": "user", "content": []}}) is None
    assert PiAnswer.of({"type": "session", "id": "1"}) is None


async def test_pi_runs_with_a_prompt_in_a_folder_and_its_end_is_reported(tmp_path, monkeypatch):
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path / "agent"))
    (tmp_path / "notes.txt").write_text("one two\n")
    answers: list[PiAnswer | None] = []

    async def read(stream: asyncio.StreamReader) -> None:
        answers.extend([PiAnswer.of(each) async for each in pi_events(stream, "message_end")])

    command = ["--mode", "json", "--model", "nobody/nothing", "--no-session"]
    end = await run_pi(command, read, cwd=tmp_path, purpose="test", prompt="hi")

    assert answers == []
    assert end.code == 1
    assert "nobody" in (end.error or "")
    assert PiEnd(0, "a warning", timed_out=False).error is None
