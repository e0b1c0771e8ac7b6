"""Commands during a run, in order, and after failures."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from attrs import evolve

from pi_client.commands import COMMANDS
from pi_hookspecs import Command, InputResult, Tool, ToolResult, hookimpl
from pi_testing import PNG, raises, stall, text, tool_call, until


class Asks:
    """A plugin with commands, and an opinion on what is said."""

    @hookimpl
    def register_commands(self):
        return [Command(name="ask", handler=self.ask), Command(name="fail", handler=self.fail)]

    async def ask(self, arguments, ctx):
        ctx.ui.notify(f"said {await ctx.ui.confirm('Sure?')}")

    def fail(self, arguments, ctx):
        raise RuntimeError("no")

    @hookimpl
    def input(self, event):
        return InputResult(handled=True) if event.text == "swallow" else None


asks = pytest.mark.pi(plugins={"asks": Asks()})


@pytest.mark.pi(plugins=[])
async def test_a_prompt_is_answered_before_its_events(talk, script):
    script.turn(text("Hi."))

    response = await talk.call("prompt", message="Hello")
    first = await talk.receive()

    assert (response["data"], first["type"]) == ({"disposition": "started"}, "agent_start")


class Delegating:
    """Lets an agent work on the first prompt."""

    def __init__(self):
        self.has_delegated = False

    @hookimpl
    async def agent_start(self, ctx):
        if not self.has_delegated:
            self.has_delegated = True
            async with ctx.create_session(tools=[], persist=True, label="scout") as child:
                await child.prompt("look around")


@pytest.mark.pi(plugins={"delegating": Delegating()})
async def test_the_sessions_of_agents_begin_and_end_with_events(talk, script):
    script.turn(text("Found.")).turn(text("Done."))

    await talk.call("prompt", message="Hello")
    await talk.event("agent_settled")

    found = [(each["type"], each["child"]["label"], each["child"]["status"]) for each in talk.lines if "child" in each]
    assert found[0] == ("child_session_start", "scout", "running")
    assert found[-1] == ("child_session_end", "scout", "done")


@pytest.mark.pi(plugins=[])
async def test_everything_can_be_asked_while_an_answer_is_made(talk, script):
    script.turn(text("Hi."), stall()).turn(text("Done."))
    await talk.call("prompt", message="Hello")
    await script.stalled()

    state = (await talk.call("get_state"))["data"]
    refused = await talk.call("prompt", message="More")
    queued = await talk.call("prompt", message="More", streamingBehavior="followUp")
    steered = await talk.call("steer", message="Quick")
    bash = await talk.call("bash", command="true")

    assert state["isStreaming"] is True
    assert refused["error"] == (
        "Agent is already processing. Specify streamingBehavior ('steer' or 'followUp') to queue the message."
    )
    assert queued["data"] == steered["data"] == {"disposition": "queued"}
    assert "No plugin in this session can run commands" in bash["error"]
    assert (await talk.call("get_state"))["data"]["pendingMessageCount"] == 2


@pytest.mark.pi(plugins=[])
async def test_abort_is_answered_when_the_prompt_has_settled_and_keeps_the_queue(talk, script):
    script.turn(text("Hi."), stall())
    await talk.call("prompt", message="Hello")
    await script.stalled()
    await talk.call("follow_up", message="Later")

    talk.lines.clear()
    await talk.call("abort")

    assert talk.lines[-2] == {"type": "agent_settled", "aborted": True}
    assert (await talk.call("clear_queue"))["data"] == {"steering": [], "followUp": ["Later"]}


@pytest.mark.pi(plugins=[])
async def test_one_of_several_queued_messages_is_taken_back_with_its_pictures(talk, script):
    script.turn(text("Hi."), stall())
    await talk.call("prompt", message="Hello")
    await script.stalled()
    picture = {"type": "image", "data": PNG, "mimeType": "image/png"}
    await talk.call("steer", message="First")
    await talk.call("steer", message="Second", images=[picture])
    await talk.call("follow_up", message="Later")

    taken = await talk.call("take_queued", queue="steer", place=1)
    gone = await talk.call("take_queued", queue="followUp", place=1)

    assert taken["data"] == {"text": "Second", "images": [picture]}
    assert gone["error"] == "No message is queued at place 1 any more: it has been delivered, or taken back"
    assert (await talk.call("clear_queue"))["data"] == {"steering": ["First"], "followUp": ["Later"]}
    await talk.call("abort")


@pytest.mark.pi(plugins=[])
async def test_the_conversation_continues_from_another_message_of_the_tree(talk, script):
    for number in range(3):
        script.turn(text(f"Answer {number}."))
    for words in ("First", "Second"):
        await talk.call("prompt", message=words)
        await talk.event("agent_settled")
    second = (await talk.call("get_fork_messages"))["data"]["messages"][1]["entryId"]

    moved = await talk.call("navigate_tree", entryId=second)
    await talk.call("prompt", message="Third")
    await talk.event("agent_settled")

    assert moved["data"] == {"cancelled": False, "text": "Second"}
    said = [each["text"] for each in (await talk.call("get_fork_messages"))["data"]["messages"]]
    assert said == ["First", "Third"]


@pytest.mark.pi(plugins=[])
async def test_commands_sent_at_once_are_executed_in_order(talk, script):
    script.turn(text("Hi."), stall())
    for command in (
        {"type": "set_session_name", "name": "one"},
        {"type": "get_state"},
        {"type": "prompt", "message": "Hello"},
        {"type": "get_state"},
        {"type": "abort"},
        {"type": "new_session"},
        {"type": "get_state"},
    ):
        talk.send(id=command["type"], **command)

    answers = [await talk.until(lambda line: line["type"] == "response") for _ in range(7)]

    assert [each["command"] for each in answers] == (
        "set_session_name get_state prompt get_state abort new_session get_state".split()
    )
    states = [each["data"] for each in answers if each["command"] == "get_state"]
    assert [state.get("sessionName") for state in states] == ["one", "one", None]
    assert [state["isStreaming"] for state in states] == [False, True, False]


@asks
async def test_a_dialog_of_a_command_does_not_block_other_requests(talk):
    talk.send(id=1, type="prompt", message="/ask")
    request = await talk.event("extension_ui_request")
    state = await talk.call("get_state")
    talk.send(type="extension_ui_response", id=request["id"], confirmed=True)

    assert state["success"] is True
    assert (await talk.event("extension_ui_request"))["message"] == "said True"
    assert (await talk.event("response"))["data"] == {"disposition": "handled"}


@asks
async def test_a_plugin_may_consume_input(talk):
    assert (await talk.call("prompt", message="swallow"))["data"] == {"disposition": "handled"}


@asks
async def test_a_plugin_s_command_cannot_be_queued(talk):
    refused = await talk.call("steer", message="/ask now")

    assert refused["error"] == (
        'Extension command "/ask" cannot be queued. Use prompt() or execute the command when not streaming.'
    )


@asks
async def test_a_failing_plugin_is_reported(talk):
    talk.send(type="prompt", message="/fail")

    event = await talk.event("extension_error")

    assert (event["extensionPath"], event["event"]) == ("asks", "command")
    assert "RuntimeError: no" in event["error"]


@pytest.mark.pi(plugins=[])
async def test_a_failed_request_is_an_event(talk, script):
    script.turn(raises(RuntimeError("broken")))

    assert (await talk.call("prompt", message="Hello"))["success"] is True
    end = await talk.event("agent_end")

    assert end["willRetry"] is False
    assert "broken" in end["messages"][-1]["errorMessage"]


@pytest.mark.pi(plugins=[])
async def test_two_commands_run_in_parallel(talk, script):
    del script
    talk.send(id="a", type="compact")
    talk.send(id="b", type="get_state")

    ids = {(await talk.event("response"))["id"] for _ in range(2)}

    assert ids == {"a", "b"}


@pytest.mark.pi(plugins=[])
async def test_switching_to_a_path_where_nothing_is_begins_there(talk, tmp_path):
    path = str(tmp_path / "sessions" / "new.jsonl")

    assert (await talk.call("switch_session", sessionPath=path))["data"] == {"cancelled": False}


class Refuses:
    @hookimpl
    def session_before_switch(self):
        from pi_hookspecs import SessionBeforeSwitchResult

        return SessionBeforeSwitchResult(cancel=True)


@pytest.mark.pi(plugins={"refuses": Refuses()})
async def test_a_plugin_may_keep_the_session(talk):
    assert (await talk.call("new_session"))["data"] == {"cancelled": True}


async def no_end(*_):
    await asyncio.Event().wait()
    return ToolResult.text("never")


@pytest.mark.pi(plugins=[], tools=[Tool(name="wait", description="", parameters={"type": "object"}, execute=no_end)])
async def test_the_end_stops_a_running_tool(talk, script):
    script.turn(tool_call("wait"))
    await talk.call("prompt", message="Hello")
    await talk.event("tool_execution_start")

    assert await talk.ended() == 0


@pytest.mark.pi(plugins=[])
async def test_a_plugin_that_wants_the_end_gets_it_when_the_run_is_over(talk, script):
    script.turn(text("Hi."), stall())
    await talk.call("prompt", message="Hello")
    await script.stalled()
    talk.session.shutdown_requested.set()
    await talk.call("abort")

    assert await talk.code == 0


class Curious:
    """Asks before the session begins."""

    @hookimpl
    async def session_start(self, event, ctx):
        await ctx.ui.confirm("May I?")


curious = pytest.mark.pi(plugins={"curious": Curious()})


@curious
async def test_commands_wait_for_the_session_to_begin_and_dialogs_do_not(talk):
    talk.send(id=1, type="get_state")
    request = await talk.receive()
    talk.send(type="extension_ui_response", id=request["id"], confirmed=True)

    assert (request["title"], (await talk.event("response"))["success"]) == ("May I?", True)


@curious
async def test_unexecuted_commands_get_an_answer_that_says_so(talk):
    await talk.event("extension_ui_request")
    talk.send(id=1, type="get_state")
    await until(lambda: talk.server._waiting)
    talk.server.end(143)

    response = await talk.event("response")
    assert (response["id"], response["error"]) == (1, "pi is ending; the command was not carried out")
    assert await talk.code == 143


@curious
async def test_the_end_comes_while_a_plugin_asks(talk):
    await talk.event("extension_ui_request")

    assert await talk.ended() == 0


@asks
async def test_a_dialog_ends_when_the_client_closes_its_input(talk):
    talk.send(id=1, type="prompt", message="/ask")
    await talk.event("extension_ui_request")
    os.close(talk.to_server)
    talk.to_server = -1

    assert (await talk.event("extension_ui_request"))["message"] == "said False"
    assert await talk.code == 0


@pytest.mark.pi(plugins=[], entry_points=["tools"])
async def test_a_command_of_the_user_can_be_stopped(talk):
    talk.send(id="b", type="bash", command="echo begun; sleep 60")
    begun = await talk.event("bash_execution_update")
    await talk.call("abort_bash")
    response = await talk.until(lambda line: line.get("id") == "b" and line["type"] == "response")

    assert (begun["id"], begun["delta"].strip()) == ("b", "begun")
    assert (response["data"]["cancelled"], "exitCode" in response["data"]) == (True, False)


@pytest.mark.pi(plugins=[], entry_points=["tools"])
async def test_output_that_was_cut_comes_without_a_notice(talk):
    response = await talk.call("bash", command="seq 30000")

    data = response["data"]
    assert data["output"] == "\n".join(map(str, range(28001, 30001)))
    assert (data["truncated"], Path(data["fullOutputPath"]).stat().st_size) == (True, 168894)


@pytest.mark.pi(plugins=[], entry_points=["session-jsonl"])
async def test_a_labelled_entry_of_the_tree_says_since_when(talk, script):
    script.turn(text("Hi."))
    await talk.call("prompt", message="Hello")
    await talk.event("agent_settled")
    entry_id = (await talk.call("get_fork_messages"))["data"]["messages"][0]["entryId"]
    manager = talk.server._session.session_manager
    for label in ("first", "second"):
        manager.append_label_change(entry_id, label)

    nodes = [(await talk.call("get_tree"))["data"]["tree"][0]]
    while nodes[-1]["children"]:
        nodes.append(nodes[-1]["children"][0])

    [labelled] = [node for node in nodes if "label" in node or "labelTimestamp" in node]
    assert (labelled["entry"]["id"], labelled["label"]) == (entry_id, "second")
    assert labelled["labelTimestamp"] == nodes[-1]["entry"]["timestamp"]


@pytest.mark.pi(
    plugins=[], entry_points=["compaction"], settings={"compaction": {"keepRecentTokens": 1, "reserveTokens": 1000}}
)
async def test_everything_can_be_asked_during_a_compaction(talk, script):
    script.turn(text("Hi.")).turn(stall())
    await talk.call("prompt", message="Hello")
    await talk.event("agent_settled")
    talk.send(id="c", type="compact")
    await script.stalled()

    assert (await talk.call("get_state"))["data"]["isCompacting"] is True
    assert await talk.ended() == 0


@pytest.mark.pi(
    plugins=[], entry_points=["compaction"], settings={"compaction": {"keepRecentTokens": 1, "reserveTokens": 1000}}
)
async def test_abort_stops_compactions_and_is_answered_after_them(talk, script):
    script.turn(text("Hi.")).turn(stall())
    await talk.call("prompt", message="Hello")
    await talk.event("agent_settled")
    for number in (1, 2):
        talk.send(id=number, type="compact")
    await script.stalled()

    talk.lines.clear()
    await talk.call("abort")

    answers = {line["id"]: line for line in talk.lines if line["type"] == "response"}
    ends = [line for line in talk.lines if line["type"] == "compaction_end"]
    assert [(line["aborted"], "errorMessage" in line) for line in ends] == [(True, False)]
    assert answers[1]["error"] == answers[2]["error"] == "Compaction cancelled"
    assert [*answers][-1] == "abort"


@pytest.mark.pi(plugins=[])
async def test_an_empty_answer_that_was_aborted_is_not_the_last(talk, script):
    script.turn(text("Hi.")).turn(stall())
    await talk.call("prompt", message="Hello")
    await talk.event("agent_settled")
    await talk.call("prompt", message="More")
    await script.stalled()
    await talk.call("abort")

    assert (await talk.call("get_last_assistant_text"))["data"] == {"text": "Hi."}


ODD = ["", "\0", "../..", "\ud800", "\u2028", "x" * 300]


@pytest.mark.pi(plugins=[], entry_points=["session-jsonl"])
@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
async def test_odd_texts_are_answered_by_every_command(talk, odd):
    for name, command in COMMANDS.items():
        schema = command.schema().get("properties", {})
        texts = {field: odd for field, kind in schema.items() if kind.get("type") == "string"}
        choices = {field: kind["enum"][0] for field, kind in schema.items() if "enum" in kind}
        flags = {field: True for field, kind in schema.items() if kind.get("type") == "boolean"}
        response = await talk.call(name, **texts, **choices, **flags)
        assert (response["command"], type(response["success"])) == (name, bool)

    assert (await talk.call("get_state"))["success"] is True


@pytest.mark.pi(plugins=[])
async def test_headers_of_a_model_stay_here(talk):
    talk.session.agent.set_model(evolve(talk.session.model, headers={"x-key": "made-up"}))

    model = (await talk.call("get_state"))["data"]["model"]

    assert (model["id"], "headers" in model) == ("model", False)


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://ann:made-up@gateway.example/v1", "https://gateway.example/v1"),
        ("http://made-up@127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("https://gateway.example/v1?key=made-up#x", "https://gateway.example/v1#x"),
        ("https://gateway.example/a@b", "https://gateway.example/a@b"),
    ],
)
async def test_passwords_and_keys_in_the_address_of_a_model_stay_here(talk, address, shown):
    talk.session.agent.set_model(evolve(talk.session.model, base_url=address))

    model = (await talk.call("get_state"))["data"]["model"]

    assert model["baseUrl"] == shown


def cancelling(hook):
    """Return a plugin that cancels the task in which pi calls it."""

    async def cancel(event):
        asyncio.current_task().cancel()
        await asyncio.sleep(0)

    return type("Cancelling", (), {hook: staticmethod(hookimpl(cancel))})()


@pytest.mark.pi(plugins={"cancelling": cancelling("input")})
async def test_a_prompt_that_a_plugin_cancels_before_it_is_accepted_is_answered_with_its_name(talk):
    response = await talk.call("prompt", message="Hello")

    assert response["success"] is False
    assert response["error"].endswith("The last hook that ran: input of plugin 'cancelling'")


@pytest.mark.pi(plugins={"cancelling": cancelling("turn_start")})
async def test_a_run_that_a_plugin_cancels_is_reported_with_its_name(talk):
    await talk.call("prompt", message="Hello")

    event = await talk.event("extension_error")

    assert event["error"].endswith("The last hook that ran: turn_start of plugin 'cancelling'")
    assert (await talk.call("get_state"))["data"]["isStreaming"] is False


@pytest.mark.pi(plugins=[], entry_points=["redact", "tools"], settings={"redact": {"output": True}})
async def test_with_redacted_output_no_line_has_a_key_that_came_in_pieces(talk, script):
    key = "ghp_" + "a1B2" * 9
    script.turn(text(f"take {key} and go", chunks=9), tool_call("bash", command=f"echo {key}")).turn(text("ok"))
    await talk.call("prompt", message=f"my key is {key}")
    await talk.event("agent_settled")
    await talk.call("bash", command=f"echo {key}")
    await talk.call("get_messages")

    deltas = [line["assistantMessageEvent"] for line in talk.lines if line["type"] == "message_update"]
    said = "".join(each["delta"] for each in deltas if each["type"] == "text_delta")
    assert key not in str(talk.lines)
    assert said.startswith("take [secret:github:")
    assert said.endswith(" and gook")
    assert key in str(script.requests[1].messages)
