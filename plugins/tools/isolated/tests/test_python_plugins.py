"""Plugins in Python in processes of their own: written as for pi's process, run by ``pi_isolated.child``."""

from __future__ import annotations

import json
from textwrap import dedent

import pytest

from pi_core.wire import to_wire
from pi_hookspecs import answers_of
from pi_hookspecs.samples import sample_event
from pi_hookspecs.specs import all_hookspecs
from pi_isolated.child.child_main import EventReader
from pi_isolated.events import EventWriter, UnsentEvent
from pi_isolated.ready import DELTA_HOOKS, parse_ready
from pi_testing import for_each, steps

pytestmark = pytest.mark.pi(entry_points=["isolated"])

RUN = "import sys; sys.path.insert(0, '.'); from pi_isolated.child import main; main('mine', 'mine')"


@pytest.fixture
def pi_extensions(request, tmp_path_factory):
    """The plugin of ``@pytest.mark.python(source)``."""
    folder = tmp_path_factory.mktemp("mine")
    (folder / "mine.py").write_text(dedent(request.node.get_closest_marker("python").args[0]))
    manifest = {"name": "mine", "command": ["{python}", "-P", "-c", RUN], "contract": "1.1"}
    (folder / "pi_plugin.json").write_text(json.dumps(manifest))
    return [folder]


GUARD = """
    from pi_hookspecs import ToolCallResult, hookimpl

    print("printed while it is imported")

    @hookimpl
    async def tool_call(event, ctx):
        print("printed while it is asked")
        if await ctx.ui.confirm(f"Run {event.input['command']} in {ctx.cwd.name}?", ""):
            return None
        done = await ctx.exec("echo", ["asked"])
        return ToolCallResult(block=True, reason=done.stdout)
"""


@pytest.mark.python(GUARD)
async def test_a_guard_is_written_as_for_pi_itself(pi_session, script, fake_ui, fake_tools, tmp_path):
    fake_ui.answers_to(f"Run ls in {tmp_path.name}?", False)
    script.turn(steps.tool_call("bash", command="ls")).turn(steps.text("done"))

    await pi_session.prompt("Go")

    assert script.requests[1].tool_results[0].text == "asked\n"
    assert fake_tools["bash"].calls == []


TOOLS = '''
    from pi_hookspecs import hookimpl, tool

    @tool
    async def shout(text: str, ctx) -> str:
        """Shout.

        Args:
            text: What.
        """
        ctx.update("half")
        return text.upper()

    @hookimpl
    def register_tools():
        return [shout]

    @hookimpl
    def activate(pi):
        @pi.register_command("greet", description="Greet")
        async def greet(args, ctx):
            ctx.ui.notify(f"Hello {args}")
'''


@pytest.mark.python(TOOLS)
async def test_tools_and_commands_are_those_of_the_process(pi_session, script, recorder, fake_ui):
    pi_session.subscribe(recorder)
    script.turn(steps.tool_call("shout", text="hi")).turn(steps.text("done"))

    await pi_session.prompt("Go")
    await pi_session.prompt("/greet Ada")

    assert script.requests[1].tool_results[0].text == "HI"
    assert [each.partial_result.content[0].text for each in recorder.of("tool_execution_update")] == ["half"]
    assert "Hello Ada" in str(fake_ui.notices)


LAST_ONE = """
    from pi_hookspecs import ContextResult, hookimpl

    @hookimpl
    def context(event):
        return ContextResult(messages=event.messages[-1:])

    @hookimpl
    def before_provider_request(event):
        return {**event.payload, "extra": len(event.payload)}
"""


@pytest.mark.python(LAST_ONE)
async def test_the_conversation_is_whole_in_the_process(pi_session, script):
    for prompt in ("One", "Two"):
        script.turn(steps.text("fine"))
        await pi_session.prompt(prompt)

    assert [len(each.messages) for each in script.requests] == [1, 1]
    assert script.requests[1].user_text == "Two"


FAILING = """
    from pi_hookspecs import hookimpl

    @hookimpl
    def tool_call(event):
        raise KeyError("tides")
"""


@pytest.mark.python(FAILING)
async def test_what_a_guard_raises_refuses_and_is_reported(pi_session, script):
    errors = []
    pi_session.subscribe(errors.append, "extension_error")
    script.turn(steps.tool_call("bash", command="ls")).turn(steps.text("done"))

    await pi_session.prompt("Go")

    assert "blocking execution" in script.requests[1].tool_results[0].text
    assert "KeyError: 'tides'" in errors[0].error


EVENTS = [name for name, spec in all_hookspecs().items() if answers_of(spec) is not None]


@for_each("hook", parse_ready({"hooks": {each: {} for each in EVENTS}}, print).hooks)
def test_every_event_is_the_same_in_the_process(hook):
    event = sample_event(hook)

    there = EventReader().read(
        hook, json.loads(json.dumps(EventWriter().write(UnsentEvent(hook, event, {"delta": True}))))
    )

    assert type(there) is type(event)
    assert to_wire(there) == to_wire(event)


@pytest.mark.parametrize("hook", DELTA_HOOKS)
def test_every_event_that_is_sent_as_changes_is_the_same_in_the_process(hook):
    event, writer, reader = sample_event(hook), EventWriter(), EventReader()

    for _ in range(2):
        assert to_wire(reader.read(hook, writer.write(UnsentEvent(hook, event, {"delta": True})))) == to_wire(event)


WATCHING = """
    from pi_hookspecs import hookimpl

    @hookimpl
    def message_update(event):
        with open("seen", "w") as file:
            file.write(event.message.text)
"""


@pytest.mark.python(WATCHING)
async def test_a_plugin_sees_the_answer_so_far(pi_session, script, pi_extensions):
    script.turn(steps.text("High water"), steps.delay(0.6), steps.text("at noon"))

    await pi_session.prompt("Go")

    assert (pi_extensions[0] / "seen").read_text().startswith("High water")


def test_what_a_plugin_changes_in_an_update_is_not_in_the_next_one():
    event = json.loads(json.dumps(EventWriter().write(UnsentEvent("message_update", sample_event("message_update")))))
    call = {"type": "toolCall", "id": "1", "name": "bash", "arguments": {"command": "ls"}}
    message = {**event.pop("message"), "content": [call]}
    reader = EventReader()

    first = reader.read("message_update", {**event, "delta": {"set": message}})
    first.message.content[0].arguments["command"] = "changed"
    following = reader.read("message_update", {**event, "delta": {"set": {}}})

    assert following.message.content[0].arguments == {"command": "ls"}
