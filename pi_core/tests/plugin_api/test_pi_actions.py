"""What a plugin does to a session through ``pi``, in handlers, commands and tools."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from pi_hookspecs import AgentBusy, CustomMessage, PiError, PluginError
from pi_testing import stop, text, tool_call


@pytest.fixture
async def pi(activated):
    """``pi`` of a plugin in a started session, which is ``pi.session``."""
    held = []
    session = await activated(held.append)
    held[0].session = session
    return held[0]


async def test_a_user_message_is_answered_without_a_waiting_caller(pi, script):
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

    assert "deliver_as='steer' or 'followUp'" in problems()[0]


async def test_a_call_from_a_thread_is_refused_with_how_to_send(pi, script):
    script.turn(text("Hello"))
    loop = asyncio.get_running_loop()
    for send in (
        pi.send_user_message,
        lambda text: pi.send_message(CustomMessage(custom_type="note", content=text)),
    ):
        with pytest.raises(PiError, match=r"loop\.call_soon_threadsafe\(pi\.send_\w*message"):
            await asyncio.to_thread(send, "hi")
    await asyncio.to_thread(loop.call_soon_threadsafe, pi.send_user_message, "hi")
    await asyncio.sleep(0)
    await pi.session.wait_for_idle()

    assert script.requests[0].messages[-1].text == "hi"


async def test_a_failure_without_a_waiting_caller_is_reported(pi, script, problems):
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


@pytest.mark.parametrize(
    ("do", "message"),
    [
        (lambda pi: pi.send_message("hi"), "send_message takes a CustomMessage, .* not 'hi'"),
        (lambda pi: pi.send_message({"content": "hi"}, deliver_as="nextTurn"), "send_message takes a CustomMessage"),
        (
            lambda pi: pi.send_user_message(5),
            "send_user_message takes a string, or a list of text and image blocks, not 5",
        ),
        (lambda pi: pi.send_user_message(["hi"]), r"not \['hi'\]"),
        (
            lambda pi: pi.send_user_message("hi", deliver_as="later"),
            "deliver_as is 'later'; it must be one of 'steer', 'followUp'",
        ),
        (lambda pi: pi.set_active_tools("read"), "set_active_tools takes a list of names, not 'read'"),
        (lambda pi: pi.exec("ls", "-la"), "exec takes a list of arguments, not '-la'"),
        (lambda pi: pi.session.ctx.exec("ls", ["-l", 5]), "exec takes a list of arguments"),
        (lambda pi: pi.set_session_name(5), "set_session_name takes a string or None, not 5"),
        (lambda pi: pi.emit({"type": "built"}), "emit takes an event, .* not {'type': 'built'}"),
    ],
    ids=range(10),
)
async def test_a_wrong_type_is_reported_where_it_was_written(pi, do, message):
    active = pi.get_active_tools()
    with pytest.raises((TypeError, ValueError), match=message):
        await do(pi)

    assert pi.get_active_tools() == active


async def test_the_first_handler_that_waits_for_an_answer_fails_with_the_reason(activated, script, problems):
    def activate(pi):
        @pi.on("session_start")
        async def greet(event):
            await pi.send_user_message("good morning")

    script.turn(text("Morning")).turn(text("And again"))
    session = await activated(activate)
    for _ in range(5):
        await asyncio.sleep(0)
    await session.wait_for_idle()
    await session.reload()
    await session.wait_for_idle()

    assert ["Send the message without await" in each for each in problems()] == [True, True]
    assert script.requests[0].messages[-1].text == "good morning"


async def test_names_labels_and_entries(pi):
    entry = pi.append_entry("note", {"a": 1})
    pi.set_label(entry, "here")
    await pi.set_session_name("Gap")
    view = pi.session.ctx.session

    assert (view.label(entry), pi.get_session_name(), view.entry(entry).data) == ("here", "Gap", {"a": 1})


class Secretive:
    def __repr__(self):
        raise ValueError("no")


ENDLESS: list = []
ENDLESS.append(ENDLESS)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (Path("/a"), "entry of PosixPath('/a'): root: must be JSON, not PosixPath."),
        ({"seen": [1, {2}]}, "entry of {'seen': [1, {2}]}: seen.1: must be JSON, not set."),
        ({1: "one"}, "entry of {1: 'one'}: root: property names 1 are invalid."),
        (float("nan"), "entry of nan: root: must be number."),
        (b"abc", "entry of b'abc': root: must be JSON, not bytes."),
        (Secretive(), "entry of <Secretive instance at "),
        (ENDLESS, "it is nested too deeply, or contains itself."),
    ],
    ids=range(7),
)
async def test_data_that_json_cannot_represent_is_refused_where_it_is_stored(pi, data, message):
    before = len(pi.session.ctx.session.entries())
    with pytest.raises(PluginError) as refused:
        pi.append_entry("note", data)

    assert str(refused.value).startswith(f"plugin {pi.plugin!r} cannot store a 'note' entry of ")
    assert message in str(refused.value)
    assert len(pi.session.ctx.session.entries()) == before


async def test_an_entry_keeps_what_it_was_given_whatever_the_plugin_does_to_it_later(pi):
    todos = [{"text": "milk"}]
    entry = pi.append_entry("todo", todos)
    todos[0]["text"] = "bread"

    assert pi.session.ctx.session.entry(entry).data == [{"text": "milk"}]


async def test_the_thinking_level_is_what_the_model_can(pi):
    await pi.set_thinking_level("high")

    assert pi.get_thinking_level() == pi.session.thinking_level


async def test_channels_carry_plain_data_between_plugins(activated, problems):
    received = []

    def listener(pi):
        pi.events.on("build", lambda data: received.append(("plain", data)))

        @pi.events.on("build")
        async def later(data):
            await asyncio.sleep(0)
            received.append(("async", data))

        @pi.events.on("build")
        def broken(data):
            raise ValueError("no builds")

        pi.events.on("build", lambda data: received.append(("after", data)))

    held = []
    await activated(listener, held.append)
    held[0].events.emit("build", {"ok": True})
    held[0].events.emit("nobody hears this")
    for _ in range(3):
        await asyncio.sleep(0)

    assert received == [("plain", {"ok": True}), ("after", {"ok": True}), ("async", {"ok": True})]
    assert "failed on channel 'build': ValueError: no builds" in problems()[0]


async def test_a_failing_async_listener_is_reported_and_a_removed_one_receives_nothing(activated, problems):
    received, removers = [], []

    def listener(pi):
        @pi.events.on("build")
        async def broken(data):
            raise ValueError("later")

        removers.append(pi.events.on("build", received.append))

    held = []
    await activated(listener, held.append)
    removers[0]()
    held[0].events.emit("build", 1)
    for _ in range(3):
        await asyncio.sleep(0)

    assert received == []
    assert "later" in problems()[0]


async def test_handlers_that_answer_each_other_end_and_are_reported_once(activated, problems):
    held, rounds = [], []

    def cycle(pi):
        held.append(pi)

        def answer(channel):
            def emit(data):
                rounds.append(channel)
                try:
                    pi.events.emit(channel, data)
                except Exception:  # noqa: BLE001 - as plugins do it
                    rounds.append("swallowed")

            return emit

        for _ in range(2):
            pi.events.on("ping", answer("pong"))
            pi.events.on("pong", answer("ping"))

    await activated(cycle)
    held[0].events.emit("ping")
    held[0].events.emit("quiet")

    assert len(rounds) < 1000
    assert [each for each in problems() if "has a cycle" in each] == problems()
    assert len(problems()) == 2  # once for each handler of the channel that began it


async def test_async_handlers_do_not_become_ever_more(activated, problems):
    held, begun = [], []

    def cycle(pi):
        held.append(pi)

        async def more(data):
            begun.append(data)
            pi.events.emit("more")
            await asyncio.sleep(60)

        for _ in range(2):
            pi.events.on("more", more)

    session = await activated(cycle)
    held[0].events.emit("more")
    for _ in range(50):
        await asyncio.sleep(0)
    await session.dispose()

    assert len(begun) == 1000
    assert ["still running" in each for each in problems()] == [True]


async def test_an_event_is_emitted_to_the_subscribers(pi, recorder):
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
            stored = next(entry for entry in ctx.session.branch() if entry.type == "message")
            seen.append(await ctx.fork(stored.id))

    session = await activated(activate)
    await session.prompt("/fresh")
    script.turn(text("Hello"))
    await session.prompt("hi")
    await session.prompt("/back")

    assert (seen[0].cancelled, *seen[1:3]) == (False, True, "seed")
    assert (seen[3].cancelled, seen[3].selected_text) == (False, "hi")


STARTS = {
    "a new session": lambda ctx: ctx.new_session(),
    "another session": lambda ctx: ctx.switch_session("/none.jsonl"),
    "a fork": lambda ctx: ctx.fork("none"),
    "the tree": lambda ctx: ctx.navigate_tree("none"),
    "a reload": lambda ctx: ctx.reload(),
    "a reload in a task": lambda ctx: asyncio.create_task(ctx.reload()),
    "a compaction": lambda ctx: ctx.compact(),
    "a compaction that may be left out": lambda ctx: ctx.compact(reason="threshold"),
    "a compaction in a task": lambda ctx: asyncio.create_task(ctx.compact()),
    "several at once": lambda ctx: asyncio.gather(ctx.new_session()),
}


@pytest.mark.parametrize("kind", STARTS)
async def test_what_waits_for_the_start_fails_at_once_inside_it(activated, script, kind):
    raised = []

    def activate(pi):
        async def early(event, ctx):
            with pytest.raises(AgentBusy, match="session_start cannot") as caught:
                await STARTS[kind](ctx)
            raised.append(caught.value)

        pi.on("session_start", early)

    session = await activated(activate)
    script.turn(text("Hello."))

    assert len(raised) == 1
    assert (await session.prompt("hi")).text == "Hello."


async def test_a_reload_inside_a_reload_fails_at_once(activated):
    raised = []

    def activate(pi):
        async def again(event, ctx):
            if event.reason == "reload":
                with pytest.raises(AgentBusy, match="wait for itself") as caught:
                    await ctx.reload()
                raised.append(caught.value)

        pi.on("session_start", again)

    session = await activated(activate)
    await session.reload()

    assert len(raised) == 1


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
