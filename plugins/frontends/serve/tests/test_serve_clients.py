"""Several clients of one session: what each sees, what observers may do, and what happens to those that go."""

from __future__ import annotations

import asyncio
import json

import pytest

from pi_client import CommandFailed, PiClient
from pi_hookspecs import Approval, approval_choices
from pi_serve import client as _client
from pi_testing import text
from pi_testing.patience import PATIENCE


async def test_each_client_sees_what_another_one_asks(served, script) -> None:
    script.turn(text("Four files."))
    first, second = await served.join(), await served.join()

    assert (await first.call("prompt", message="What is here?"))["data"] == {"disposition": "started"}
    await first.event("agent_settled")
    await second.event("agent_settled")
    await first.call("get_state")
    await second.call("get_state")

    said = [each["message"]["role"] for each in first.entries() if each["type"] == "message"]
    assert said[-2:] == ["user", "assistant"]
    assert first.entries() == second.entries()


async def test_a_client_that_comes_later_gets_what_it_missed_and_no_more(served, script) -> None:
    script.turn(text("One."))
    script.turn(text("Two."))
    first = await served.join()
    await first.call("prompt", message="First")
    await first.event("agent_settled")
    await first.call("get_state")
    known = first.entries()
    await first.call("prompt", message="Second")
    await first.event("agent_settled")
    await first.call("get_state")

    late = await served.join(since=known[-1]["id"])
    told = await late.receive()

    assert told["entries"] == first.entries()[len(known) :]
    assert "reset" not in told


async def test_a_client_with_an_unknown_entry_gets_all_again(served, script) -> None:
    script.turn(text("One."))
    first = await served.join()
    await first.call("prompt", message="First")
    await first.event("agent_settled")
    await first.call("get_state")

    lost = await served.join(since="ffffffff")
    told = await lost.receive()

    assert told["reset"] is True
    assert told["entries"] == first.entries()


async def test_a_client_that_goes_while_its_prompt_runs_does_not_end_it(served, script) -> None:
    script.turn(text("It goes on."))
    watching, asking = await served.join(role="observe"), await served.join()

    asking.send(type="prompt", message="Go on without me")
    asking.close()
    settled = await watching.event("agent_settled")

    assert settled["aborted"] is False
    assert served.session.get_last_assistant_text() == "It goes on."


async def test_an_observer_may_look_and_change_nothing(served, tmp_path) -> None:
    observer = await PiClient.connect(served.path, observe=True)

    assert (await observer.get_state()).session_id == served.session.session_id
    with pytest.raises(CommandFailed, match="'prompt' changes the session, and this client only observes it"):
        await observer.prompt("Hello")
    await observer.close()


async def test_a_dialog_goes_to_all_controllers_and_the_first_answer_counts(served) -> None:
    one, two, observer = await served.join(), await served.join(), await served.join(role="observe")
    asked = asyncio.ensure_future(served.session.ui.confirm("Delete it?"))

    request = await one.event("extension_ui_request")
    await two.event("extension_ui_request")
    one.send(type="extension_ui_response", id=request["id"], confirmed=True)

    assert await asked is True
    await two.event("extension_ui_closed")
    await observer.call("get_state")
    assert not [line for line in observer.lines if line["type"].startswith("extension_ui")]


async def test_a_controller_that_goes_leaves_its_dialogs_to_the_others(served) -> None:
    one, two = await served.join(), await served.join()
    asked = asyncio.ensure_future(served.session.ui.confirm("Delete it?"))
    await one.event("extension_ui_request")
    request = await two.event("extension_ui_request")

    one.close()
    two.send(type="extension_ui_response", id=request["id"], confirmed=True)

    assert await asked is True


async def test_a_question_waits_for_the_client_that_comes_next(served) -> None:
    leaving = await served.join()
    asked = asyncio.ensure_future(served.session.ui.confirm("Delete it?"))
    await leaving.event("extension_ui_request")
    leaving.close()
    await served.until_left()

    back = await served.join()
    request = await back.event("extension_ui_request")
    assert not asked.done()
    back.send(type="extension_ui_response", id=request["id"], confirmed=True)

    assert await asked is True


async def test_a_program_without_a_user_leaves_a_question_to_others(served) -> None:
    program = await served.join()
    asked = asyncio.ensure_future(served.session.ui.confirm("Delete it?"))
    request = await program.event("extension_ui_request")
    program.send(type="extension_ui_response", id=request["id"], cancelled=True, unanswered=True)
    await program.event("extension_ui_closed")
    assert not asked.done()

    person = await served.join()
    request = await person.event("extension_ui_request")
    person.send(type="extension_ui_response", id=request["id"], confirmed=True)

    assert await asked is True


async def test_a_question_without_a_client_waits_for_the_first(served) -> None:
    asked = asyncio.ensure_future(served.session.ui.select("Which?", ["a", "b"]))

    first = await served.join()
    request = await first.event("extension_ui_request")
    first.send(type="extension_ui_response", id=request["id"], value="b")

    assert await asked == "b"


async def test_the_end_of_the_session_ends_a_question_that_nobody_answers(served) -> None:
    asked = asyncio.ensure_future(served.session.ui.confirm("Delete it?"))
    await asyncio.sleep(0)

    served.server.end(0)

    assert await asked is False


@pytest.mark.pi(settings={"serve": {"questionHours": 0}})
async def test_the_user_can_choose_that_no_question_waits(served) -> None:
    assert await served.session.ui.confirm("Delete it?") is False


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ({"type": "get_state"}, "The first line must be"),
        ({"type": "hello", "role": "king"}, "Field 'role' of hello must be 'control' or 'observe', not 'king'"),
        ({"type": "hello", "since": 5}, "Field 'since' of hello must be a string, not 5"),
    ],
)
async def test_a_wrong_first_line_is_refused_with_the_reason(served, line, why) -> None:
    stranger = await served.connect()

    stranger.send(**line)

    assert why in (await stranger.event("error"))["error"]


@pytest.mark.slow
async def test_of_ten_thousand_clients_those_beyond_the_limit_are_refused_with_the_reason(served) -> None:
    members = [await served.join(role="observe") for _ in range(99)]
    first = await served.join()
    for _ in range(100):
        strangers = [await asyncio.open_unix_connection(str(served.path)) for _ in range(100)]
        for reader, writer in strangers:
            assert b"100 clients are already connected. Close one of them" in await reader.read()
            writer.close()
            await writer.wait_closed()

    assert (await first.call("get_state"))["success"]
    members[0].close()
    async with asyncio.timeout(PATIENCE):
        while not (await _joins(served)):  # noqa: ASYNC110 - the server notices at its own time that one is gone
            await asyncio.sleep(0.01)


async def _joins(served) -> bool:
    stranger = await served.connect()
    stranger.send(type="hello")
    return (await stranger.receive())["type"] == "hello"


async def test_clients_of_other_versions_are_understood_as_far_as_they_can_be(served) -> None:
    newer = await served.join(protocol=7, capabilities={"forms": True}, client="pi 9.0")
    unknown = await newer.call("fly_to_the_moon")
    known = await newer.call("get_state", withFuel=True)
    older = await served.connect()
    older.send(id="1", type="get_state")  # as in RPC mode, which has no hello

    assert unknown["error"] == "Unknown command: fly_to_the_moon"
    assert known["success"]
    assert "The first line must be" in (await older.event("error"))["error"]


@pytest.mark.slow
async def test_a_line_of_a_hundred_megabytes_is_refused_and_not_kept(served) -> None:
    stranger, client = await served.connect(), await served.join()

    for each in (stranger, client):
        each.writer.write(b"x" * 100_000_000 + b"\n")
        await each.writer.drain()

    assert "The first line must be" in (await stranger.event("error"))["error"]
    refused = await client.until(lambda line: line["type"] == "response")
    assert "the line is longer than 67108864 bytes" in refused["error"]
    assert (await client.call("get_state"))["success"]


async def test_a_slow_client_is_dropped_and_told_how_to_resume(served, script, monkeypatch) -> None:
    monkeypatch.setattr(_client, "MAX_PENDING_BYTES", 2**16)
    script.turn(text("One."))
    script.turn(text("word " * 10_000, chunks=4_000))
    quick, slow = await served.join(), await served.join()
    await quick.call("prompt", message="First")
    await quick.event("agent_settled")
    await quick.call("get_state")
    known = quick.entries()[-1]["id"]

    await quick.call("prompt", message="Long")
    await quick.event("agent_settled")
    await quick.call("get_state")
    dropped = await slow.event("dropped")

    assert dropped["resume"] in {each["id"] for each in quick.entries()}
    again = await served.join(since=dropped["resume"])
    await again.receive()
    assert known in {each["id"] for each in slow.entries()}
    assert [*slow.entries(), *again.entries()][-1]["id"] == quick.entries()[-1]["id"]


SECRET = "ghp_" + "a1B2c3D4e5F6" * 3


@pytest.mark.pi(entry_points=["redact"], settings={"redact": {"output": True}})
async def test_questions_and_notices_have_no_secrets_if_output_is_redacted(served) -> None:
    client = await served.join()
    ui = served.session.ui
    approval = Approval("Run it?", what=f"curl {SECRET}", choices=approval_choices(always=SECRET))
    answers = {
        "select": (ui.select(f"Use {SECRET}?", [f"Use {SECRET}", "No"]), 0),
        "confirm": (ui.confirm("Push?", f"with {SECRET}"), None),
        "input": (ui.input(f"Name for {SECRET}", SECRET), None),
        "editor": (ui.editor("Edit", f"key = {SECRET}"), None),
        "approval": (ui.approve(approval), 1),
    }
    given = {}
    for name, (question, place) in answers.items():
        asked = asyncio.ensure_future(question)
        request = await client.event("extension_ui_request")
        value = request.get("prefill", "typed") if place is None else request["options"][place]
        reply = {"confirmed": True} if name == "confirm" else {"value": value}
        client.send(type="extension_ui_response", id=request["id"], **reply)
        given[name] = await asked
    ui.notify(f"Stored {SECRET}")
    ui.set_status("key", SECRET)
    ui.set_widget("keys", [SECRET])
    ui.set_title(SECRET)
    await client.call("get_state")

    assert SECRET not in json.dumps(client.lines)
    assert given == {
        "select": f"Use {SECRET}",
        "confirm": True,
        "input": "typed",
        "editor": f"key = {SECRET}",
        "approval": "always",
    }


async def test_texts_are_rendered_for_clients_as_safe_html(served) -> None:
    watching = await served.join(role="observe")
    texts = [{"text": "**high** <b>"}, {"text": "\x1b[32mOK\x1b[0m <b>", "kind": "output"}, {"text": 5}]
    watching.writer.write(b'{"type":"render",' + json.dumps({"id": "r", "texts": texts}).encode()[1:] + b"\n")

    answer = await watching.event("response")

    assert answer["data"]["html"] == [
        "<p><strong>high</strong> &lt;b&gt;</p>\n",
        '<span class="a2">OK</span> &lt;b&gt;',
        "",
    ]


async def test_a_line_that_only_looks_like_a_rendering_is_refused_as_any_other(served) -> None:
    client = await served.join()
    client.writer.write(b'{"type":"render","texts":5}\n{"type":"render",\n')

    first, second = await client.event("response"), await client.event("response")

    assert first["error"] == "Unknown command: render"
    assert not second["success"]
