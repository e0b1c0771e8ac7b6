"""What a plugin does to a session through ``pi``, in handlers, commands and tools."""

from __future__ import annotations

import asyncio

import pytest

from pi_hookspecs import AgentBusy, CustomMessage
from pi_testing import stop, text, tool_call


@pytest.fixture
async def pi(activated):
    """``pi`` of a plugin in a started session, which is ``pi.session``."""
    held = []
    session = await activated(held.append)
    held[0].session = session
    return held[0]


async def test_a_user_message_is_answered_though_nobody_waits(pi, script):
    script.turn(text("Hello"))
    pi.send_user_message("hi")
    await asyncio.sleep(0)
    await pi.session.wait_for_idle()

    assert script.requests[0].messages[-1].text == "hi"


async def test_a_user_message_that_is_awaited_gives_the_answer(pi, script):
    script.turn(text("Hello"))

    assert (await pi.send_user_message("hi")).text == "Hello"


async def test_a_plain_handler_queues_a_message_in_time(activated, script):
    def activate(pi):
        @pi.on("turn_end")
        def once(event):
            if event.turn_index == 0 and len(script.requests) == 1:
                pi.send_user_message("and now?", deliver_as="followUp")

    session = await activated(activate)
    script.turn(text("One")).turn(text("Two"))
    answer = await session.prompt("go")

    assert answer.text == "Two"
    assert script.requests[1].messages[-1].text == "and now?"


async def test_a_user_message_in_a_run_must_say_how_to_queue(activated, script, problems):
    session = await activated(lambda pi: pi.on("turn_start", lambda event: pi.send_user_message("now")))
    script.turn(text("One"))
    await session.prompt("go")

    assert "streamingBehavior" in problems()[0]


async def test_a_failure_that_nobody_waits_for_is_reported(pi, script, problems):
    pi.session.agent.set_model(None)
    pi.send_user_message("hi")
    for _ in range(5):
        await asyncio.sleep(0)

    assert "could not send: No model selected" in problems()[0]


async def test_a_custom_message_waits_for_the_next_prompt(pi, script):
    pi.send_message(CustomMessage(custom_type="note", content="Mind the gap"), deliver_as="nextTurn")
    script.turn(text("Yes"))
    await pi.session.prompt("hello")

    assert [message.text for message in script.requests[0].messages] == ["hello", "Mind the gap"]


async def test_a_custom_message_may_trigger_a_turn(pi, script):
    script.turn(text("Indeed"))
    answer = await pi.send_message(CustomMessage(custom_type="note", content="Mind the gap"), trigger_turn=True)

    assert answer.text == "Indeed"


async def test_names_labels_and_entries(pi):
    entry = pi.append_entry("note", {"a": 1})
    pi.set_label(entry, "here")
    await pi.set_session_name("Gap")
    view = pi.session.ctx.session

    assert (view.label(entry), pi.get_session_name(), view.entry(entry).data) == ("here", "Gap", {"a": 1})


async def test_the_thinking_level_is_what_the_model_can(pi):
    await pi.set_thinking_level("high")

    assert pi.get_thinking_level() == pi.session.thinking_level


async def test_channels_carry_plain_data_between_plugins(activated, problems):
    heard = []

    def listener(pi):
        pi.events.on("build", lambda data: heard.append(("plain", data)))

        @pi.events.on("build")
        async def later(data):
            await asyncio.sleep(0)
            heard.append(("async", data))

        @pi.events.on("build")
        def broken(data):
            raise ValueError("no builds")

        pi.events.on("build", lambda data: heard.append(("after", data)))

    held = []
    await activated(listener, held.append)
    held[0].events.emit("build", {"ok": True})
    held[0].events.emit("nobody hears this")
    for _ in range(3):
        await asyncio.sleep(0)

    assert heard == [("plain", {"ok": True}), ("after", {"ok": True}), ("async", {"ok": True})]
    assert "failed on channel 'build': ValueError: no builds" in problems()[0]


async def test_an_async_listener_that_fails_is_reported_and_one_that_is_removed_hears_nothing(activated, problems):
    heard, removers = [], []

    def listener(pi):
        @pi.events.on("build")
        async def broken(data):
            raise ValueError("later")

        removers.append(pi.events.on("build", heard.append))

    held = []
    await activated(listener, held.append)
    removers[0]()
    held[0].events.emit("build", 1)
    for _ in range(3):
        await asyncio.sleep(0)

    assert heard == []
    assert "later" in problems()[0]


async def test_an_event_is_told_to_the_subscribers(pi, recorder):
    class Built:
        type = "built"

    await pi.emit(Built())

    assert recorder.of("built")


async def test_commands_change_the_session(activated, script):
    seen = []

    def activate(pi):
        @pi.register_command("fresh")
        async def fresh(args, ctx):
            await ctx.wait_for_idle()
            first = ctx.session.id
            seen.append(await ctx.new_session(setup=lambda manager: manager.append_custom_entry("seed", 1)))
            seen.append(ctx.session.id != first)
            seen.extend(entry.custom_type for entry in ctx.session.entries() if entry.type == "custom")

        @pi.register_command("back")
        async def back(args, ctx):
            said = next(entry for entry in ctx.session.branch() if entry.type == "message")
            seen.append(await ctx.fork(said.id))

    session = await activated(activate)
    await session.prompt("/fresh")
    script.turn(text("Hello"))
    await session.prompt("hi")
    await session.prompt("/back")

    assert (seen[0].cancelled, *seen[1:3]) == (False, True, "seed")
    assert (seen[3].cancelled, seen[3].selected_text) == (False, "hi")


async def test_a_hook_inside_a_prompt_and_a_tool_cannot_wait_for_it(activated, script):
    raised = []

    def activate(pi):
        async def hopeless(event, ctx):
            with pytest.raises(AgentBusy, match="inside a prompt") as caught:
                await ctx.new_session()
            raised.append(caught.value)

        pi.on("turn_start", hopeless)

        @pi.register_tool
        async def wait(ctx: object) -> str:
            """Wait."""
            await ctx.wait_for_idle()
            return "never"

    session = await activated(activate)
    script.turn(tool_call("wait")).turn(text("Well."))
    await session.prompt("go")

    assert len(raised) == 2
    assert "A tool cannot wait" in script.requests[1].tool_results[0].text


async def test_what_a_command_may_know(activated, script):
    ctx = (await activated()).ctx

    assert ctx.get_system_prompt() == ctx.system_prompt
    assert ctx.models.get_model(script.model.provider, script.model.id) == script.model
    assert ctx.models.find(script.model.reference) == script.model
    assert ctx.scoped_models == ()
    assert ctx.is_project_trusted() is False


async def test_pi_and_ctx_of_a_session_that_ended_are_stale(activated, stale):
    held = []
    session = await activated(held.append)
    ctx = session.ctx
    await session.dispose()

    for use in (lambda: held[0].append_entry("a"), lambda: held[0].on("turn_end", print), lambda: ctx.cwd, ctx.is_idle):
        with stale("belongs to a session that has ended"):
            use()
    with stale("has ended"):
        await ctx.reload()


@pytest.fixture
def stale():
    from pi_hookspecs import StaleObject

    return lambda match: pytest.raises(StaleObject, match=match)


async def test_a_stopped_run_says_so(pi, script):
    script.turn(stop("stop"))
    await pi.session.prompt("hi")

    assert pi.session.ctx.is_idle()
