"""Questions of plugins in ``pi attach lines``: what is shown, and which lines answer them."""

from __future__ import annotations

import asyncio
import io

import pytest

from pi_cli.attached import EventText
from pi_cli.line.attached import _Talk, attach_lines
from pi_cli.screen import Screen
from pi_client import Event, UiRequest
from pi_hookspecs import WrongUse
from pi_testing import for_each
from pi_testing.patience import PATIENCE

SELECT = UiRequest("select", {"method": "select", "title": "Which?", "options": ["one", "two"]})
CONFIRM = UiRequest("confirm", {"method": "confirm", "title": "Delete it?", "message": "There is no way back."})
INPUT = UiRequest("input", {"method": "input", "title": "Name?"})


async def a_few_turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def answered(request: UiRequest, *lines: str) -> tuple[object, str]:
    """Ask, type the lines, and return the answer and what was shown."""
    shown = io.StringIO()
    talk = _Talk(Screen(shown, shown))
    talk.joined.set()
    asking = asyncio.ensure_future(talk.ask(request))
    for line in lines:
        await a_few_turns()
        assert talk.answer(line)
    return await asyncio.wait_for(asking, PATIENCE), shown.getvalue()


@for_each(
    ("request_", "lines", "answer"),
    [
        (SELECT, ["2"], "two"),
        (SELECT, ["one"], "one"),
        (SELECT, ["3", "three", "1"], "one"),
        (SELECT, [""], None),
        (CONFIRM, ["y"], True),
        (CONFIRM, ["No"], False),
        (CONFIRM, ["perhaps", "yes"], True),
        (INPUT, ["Ada"], "Ada"),
        (INPUT, ["  "], None),
    ],
)
async def test_a_line_answers_a_question(request_, lines, answer) -> None:
    given, shown = await answered(request_, *lines)

    assert given == answer
    assert shown.count(request_.title) == len(lines)


async def test_a_question_shows_its_message_and_its_choices() -> None:
    assert "There is no way back." in (await answered(CONFIRM, "n"))[1]
    assert "  1. one\n  2. two\n" in (await answered(SELECT, "1"))[1]


async def test_a_question_that_another_client_answers_takes_no_line() -> None:
    shown = io.StringIO()
    talk = _Talk(Screen(shown, shown))
    asking = asyncio.ensure_future(talk.ask(INPUT))
    await a_few_turns()
    before = shown.getvalue()
    talk.joined.set()
    await a_few_turns()

    asking.cancel()
    await asyncio.wait([asking])

    assert before == ""
    assert not talk.answer("this is a prompt")
    assert shown.getvalue().endswith("(answered elsewhere)\n")


def test_a_prompt_is_shown_to_those_who_have_not_typed_it() -> None:
    shown = io.StringIO()
    rows = EventText(Screen(shown, shown), whole=True)
    said = Event({"type": "message_end", "message": {"role": "user", "content": "go on", "timestamp": 1}})
    rows.typed.append("go on")
    rows.take(said)
    once = shown.getvalue()
    rows.take(said)

    assert (once, shown.getvalue()) == ("", "> go on\n")


def test_an_event_of_a_newer_server_is_passed_over() -> None:
    shown = io.StringIO()
    EventText(Screen(shown, shown)).take(Event({"type": "tide", "height": 3}))

    assert shown.getvalue() == ""


class Terminal(io.StringIO):
    """Text is streamed to it."""

    def isatty(self) -> bool:
        return True


STORED = Event(
    {
        "type": "entries",
        "entries": [
            {"type": "message", "id": "1", "message": {"role": "user", "content": "How is the tide?", "timestamp": 1}},
            {"type": "model_change", "id": "2"},
        ],
    }
)
SO_FAR = Event(
    {
        "type": "message_start",
        "partial": True,
        "message": {
            "role": "assistant",
            "content": [{"type": "text", "text": "It is hi"}],
            "api": "a",
            "provider": "p",
            "model": "m",
            "usage": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0},
            "stopReason": "stop",
            "timestamp": 1,
        },
    }
)
DELTA = Event(
    {
        "type": "message_update",
        "assistantMessageEvent": {"type": "text_delta", "contentIndex": 0, "delta": "gh."},
    }
)


@pytest.mark.parametrize(("whole", "shows"), [(True, "> How is the tide?\n\nIt is high."), (False, "gh.")])
def test_what_was_said_before_is_shown_to_those_who_talk_and_not_to_who_asks_once(whole: bool, shows: str) -> None:
    shown = Terminal()
    rows = EventText(Screen(shown, shown), whole=whole)
    for event in (STORED, SO_FAR, DELTA):
        rows.take(event)

    assert shown.getvalue().lstrip("\n") == shows


def test_later_entries_are_shown_only_where_another_session_begins() -> None:
    shown = Terminal()
    rows = EventText(Screen(shown, shown), whole=True)

    for event in (STORED, STORED, Event({**STORED.data, "reset": True})):
        rows.take(event)

    assert shown.getvalue().count("> How is the tide?") == 2


def test_messages_that_others_have_queued_are_shown_once() -> None:
    shown = io.StringIO()
    rows = EventText(Screen(shown, shown), whole=True)
    rows.typed.append("and mine")
    for queued in (["and tomorrow?"], ["and tomorrow?", "and mine"], ["and mine"], []):
        rows.take(Event({"type": "queue_update", "steering": queued, "followUp": []}))

    assert shown.getvalue() == "Queued: and tomorrow?\n"


@for_each(
    ("arguments", "why"),
    [
        (["--ssh"], "--ssh takes the name of a computer"),
        (["one", "two"], "takes one session, and 'two' is a second one"),
        (["--ssh", "box", "one", "two"], "takes one session, and 'two' is a second one"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(arguments, why, pi_host) -> None:
    with pytest.raises(WrongUse, match=why):
        attach_lines(arguments, pi_host)
