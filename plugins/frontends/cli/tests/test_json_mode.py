"""``--mode json``: the session's header, then every event as a line, and nothing else on stdout."""

from __future__ import annotations

import json
import os

import pytest

from pi_testing.patience import PATIENCE

pytestmark = pytest.mark.slow  # each starts programs that take seconds


def lines(done):
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_header_comes_first_then_every_event(fake):
    events = lines(fake.run("--mode", "json", "--model", "fake/echo", "hello"))

    assert (events[0]["type"], events[0]["version"], events[0]["cwd"]) == ("session", 3, str(fake.cwd))
    assert [event["type"] for event in events[1:] if event["type"] != "message_update"] == [
        "agent_start",
        "turn_start",
        "message_start",
        "message_end",
        "message_start",
        "message_end",
        "turn_end",
        "agent_end",
        "agent_settled",
    ]


def test_updates_hold_what_is_new(fake):
    events = lines(fake.run("--mode", "json", "--model", "fake/echo", "hello"))

    update = next(event for event in events if event["type"] == "message_update")
    assert set(update) == {"type", "usage", "assistantMessageEvent"}
    deltas = [event["assistantMessageEvent"].get("delta", "") for event in events if event["type"] == "message_update"]
    assert "".join(deltas) == "hello"


def test_updates_hold_the_whole_message_where_that_is_wanted(fake):
    events = lines(fake.run("--mode", "json", "--json-full", "--model", "fake/echo", "hello"))

    last = [event for event in events if event["type"] == "message_update"][-1]
    assert last["message"]["content"] == [{"type": "text", "text": "hello"}]
    assert last["assistantMessageEvent"]["partial"] == last["message"]


def test_a_last_answer_that_failed_is_an_event_and_an_exit_code(fake):
    done = fake.run("--mode", "json", "--model", "fake/fail", "hello", "again")

    assert (done.returncode, done.stderr) == (1, "Error: 400 the request is wrong\n")
    assert [event["type"] for event in lines(done)].count("agent_settled") == 2
    answer = [event["message"] for event in lines(done) if event["type"] == "message_end"][-1]
    assert (answer["stopReason"], answer["errorMessage"]) == ("error", "400 the request\nis wrong")


ABORTING = """
from pi_hookspecs import hookimpl

@hookimpl
def message_start(event, ctx):
    if event.message.role == "assistant":
        ctx.abort()
"""


def test_an_aborted_last_answer_is_an_exit_code(fake):
    fake.install("aborting", ABORTING)

    done = fake.run("--mode", "json", "--model", "fake/wait", "hello")

    assert done.returncode == 1
    answer = [event["message"] for event in lines(done) if event["type"] == "message_end"][-1]
    assert answer["stopReason"] == "aborted"


def test_several_messages_are_sent_one_after_another(fake):
    events = lines(fake.run("--mode", "json", "--model", "fake/echo", "one", "two"))

    assert [event["type"] for event in events].count("agent_settled") == 2


def test_what_plugins_print_is_on_stderr(fake):
    fake.install(
        "chatty", "from pi_hookspecs import hookimpl\n@hookimpl\ndef agent_start():\n    print('hello there')\n"
    )

    done = fake.run("--mode", "json", "--model", "fake/echo", "hello")

    assert all(event["type"] for event in lines(done))
    assert "hello there" in done.stderr


DELEGATING = """
from pi_hookspecs import hookimpl

@hookimpl
async def agent_start(ctx):
    async with ctx.create_session(tools=[], persist=True, label="scout") as child:
        await child.prompt("look around")
"""


def test_the_sessions_of_agents_begin_and_end_with_events(fake):
    fake.install("delegating", DELEGATING)

    events = lines(fake.run("--mode", "json", "--model", "fake/echo", "hello"))

    found = [(each["type"], each["child"]["label"], each["child"]["status"]) for each in events if "child" in each]
    assert found[0] == ("child_session_start", "scout", "running")
    assert found[-1] == ("child_session_end", "scout", "done")


def test_an_empty_prompt_is_an_error(fake):
    done = fake.run("--mode", "json", "--model", "fake/echo")

    assert done.returncode == 1
    assert done.stderr.startswith("Error: Nothing to do")


def test_a_reader_that_goes_away_ends_it(fake):
    read_end, write_end = os.pipe()
    os.close(read_end)
    with fake.start("--mode", "json", "--model", "fake/echo", "-p", "hello", stdout=write_end) as process:
        os.close(write_end)
        _, errors = process.communicate(timeout=PATIENCE)

    assert (process.returncode, errors) == (141, b"")


def test_a_front_end_without_a_plugin_is_an_error(fake):
    done = fake.run("--mode", "jsn", "hello")

    assert done.returncode == 1
    assert "Unknown mode: jsn. Did you mean json" in done.stderr


def test_text_is_the_mode_that_prints(fake):
    assert fake.run("--mode", "text", "--model", "fake/echo", "hello").stdout == "hello\n"
