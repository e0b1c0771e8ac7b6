"""What programs draw: widgets and questions of real processes, and rows of tools and messages."""

from __future__ import annotations

import asyncio

import pytest

from pi_hookspecs import ToolResult
from pi_isolated.terminal_keys import bytes_of
from pi_testing import steps, until

pytestmark = [pytest.mark.slow, pytest.mark.pi(entry_points=["isolated"], screen=True)]

DRAWS = """
ready(commands=["draw"])
pressed = []
for message in messages():
    kind, op = message["type"], message.get("op")
    if kind == "command":
        asked = message
        for name, more in (("w", {"kind": "widget", "key": "tide"}), ("q", {"kind": "custom"})):
            send(type="surface", surface=name, op="open", ctx=message["ctx"], **more)
    elif op == "size":
        row = f"{message['surface']} {message['width']}x{message['height']}"
        send(type="surface", surface=message["surface"], op="lines", lines=[row + "\\x1b[31m red"])
    elif op == "input":
        pressed.append(message["data"])
        send(type="surface", surface="q", op="lines", lines=[repr(pressed)])
        if message["key"] == "q":
            send(type="surface", surface="q", op="close")
    elif op == "closed":
        pressed.append("closed")
    if kind == "surface" and op in ("closed", "input") and pressed[-1] in ("q", "closed"):
        send(type="call", id="n", ctx=asked["ctx"], method="ui.notify", params={"message": f"{pressed}"})
        answer(asked)
"""


@pytest.mark.program(DRAWS)
async def test_a_program_draws_a_widget_and_gets_the_keys_of_its_question(pi_session, fake_ui):
    fake_ui.leaves_open()
    running = asyncio.create_task(pi_session.prompt("/draw"))
    question = await fake_ui.opened_custom()
    widget = fake_ui.screens["tide"]
    await until(lambda: "x" in "".join(question.rows) and "x" in "".join(widget.rows))

    assert widget.rows[0].startswith("w 80x24")
    question.press("up", "ctrl+shift+p", "é", "q")
    await running

    assert fake_ui.notices[-1].message == repr(["\x1b[A", "\x1b[112;6u", "é", "q"])
    assert question.is_done
    assert "tide" in fake_ui.screens


@pytest.mark.program(DRAWS)
async def test_a_question_that_the_user_leaves_is_closed_for_its_program(pi_session, fake_ui):
    fake_ui.leaves_open()
    running = asyncio.create_task(pi_session.prompt("/draw"))
    question = await fake_ui.opened_custom()
    await until(lambda: question.rows)

    question.done(None)
    await running

    assert fake_ui.notices[-1].message == "['closed']"


@pytest.mark.program(DRAWS, grants={"ctx": ["exec"]})
async def test_a_program_without_the_grant_draws_nothing(pi_session, fake_ui):
    failures = []
    pi_session.subscribe(failures.append, "extension_error")

    await pi_session.prompt("/draw")
    await until(lambda: failures)

    assert fake_ui.customs == []
    assert "grants.ctx in pi_plugin.json does not name 'ui'" in failures[0].error


RENDERS = """
described = {"name": "look", "description": "look", "parameters": {"type": "object"}, "renders": ["call", "result"]}
bare = {"name": "bare", "description": "bare", "parameters": {"type": "object"}, "framed": False}
renderers = [{"type": "card", "kind": "message"}]
send(type="ready", contract="1.1", hooks={}, registers={"tools": [described, bare], "renderers": renderers})
asked = 0
for message in messages():
    if message["type"] == "render":
        asked += 1
        shown = message["value"]
        said = {"tool_call": lambda: shown["args"], "tool_result": lambda: (shown["args"], shown["result"]["content"])}
        text = said.get(message["what"], lambda: shown["content"])()
        answer(message, {"lines": [f"{asked} {message['what']} {message['width']} {text}"]})
    elif message["type"] == "tool":
        answer(message, {"content": [{"type": "text", "text": "seen"}]})
"""


@pytest.mark.program(RENDERS)
async def test_a_program_renders_its_tool_and_its_messages_once_for_the_same_values(pi_session, script, fake_ui):
    script.turn(steps.tool_call("look", at="sea")).turn(steps.text("done"))
    await pi_session.prompt("Go")
    draw = pi_session.renderings

    def call():
        return draw.tool_call("look", {"at": "sea"}, width=30, call_id="c1")

    def outcome():
        return draw.tool_result("look", ToolResult.text("seen"), width=30, call_id="c1")

    assert call() is None
    await until(lambda: call() is not None)
    assert outcome() is None
    await until(lambda: outcome() is not None)

    assert call() == ("1 tool_call 30 {'at': 'sea'}",)
    assert outcome() == ("2 tool_result 30 ({'at': 'sea'}, [{'type': 'text', 'text': 'seen'}])",)
    await until(lambda: fake_ui.redraws > 0)
    assert [draw.is_framed(name) for name in ("look", "bare", "bash")] == [True, False, True]
    assert draw.tool_call("bare", {}, width=30, call_id="c2") is None


KEYS = {
    "a": "a",
    "enter": "\r",
    "shift+enter": "\x1b[13;2u",
    "shift+tab": "\x1b[Z",
    "ctrl+up": "\x1b[1;5A",
    "shift+f5": "\x1b[15;2~",
    "f1": "\x1bOP",
    "ctrl+g": "\x07",
    "alt+backspace": "\x1b\x7f",
    "ctrl+backspace": "\x1b[127;5u",
    "ctrl++": "\x1b[43;5u",
    "super+k": "\x1b[107;9u",
}


def test_a_key_is_sent_as_the_bytes_of_a_terminal():
    assert {key: bytes_of(key) for key in KEYS} == KEYS
