"""What a plugin registers at run time is there at once, joins the rules of installed ones, and can be taken away."""

from __future__ import annotations

import pytest

from pi_hookspecs import Command, Flag, ToolCallResult, hookimpl
from pi_testing import text, tool_call


async def test_a_command_registered_in_activate_runs(activated):
    called = []

    def activate(pi):
        @pi.register_command("todo", description="Add a to-do")
        async def todo(args, ctx):
            called.append((args, ctx.cwd.is_dir()))

    session = await activated(activate)
    assert await session.prompt("/todo buy milk") is None

    assert called == [("buy milk", True)]
    assert [(each.name, each.description) for each in await session.get_commands()] == [("todo", "Add a to-do")]


async def test_a_command_can_be_taken_away_twice(activated, script):
    taken = []
    session = await activated(lambda pi: taken.append(pi.register_command("todo", lambda args, ctx: None)))
    taken[0]()
    taken[0]()
    script.turn(text("What?"))

    answer = await session.prompt("/todo")

    assert answer.text == "What?"
    assert await session.get_commands() == ()


async def test_of_two_commands_the_later_plugin_has_the_name_and_the_other_its_own(activated):
    called = []
    session = await activated(
        lambda pi: pi.register_command("go", lambda args, ctx: called.append("first")),
        lambda pi: pi.register_command("go", lambda args, ctx: called.append("second")),
    )
    names = [each.plugin for each in (session.runtime.registrations.find("register_commands", "go"),)]
    first = session.host.added()[-2]

    await session.prompt("/go")
    await session.prompt(f"/{first}:go")

    assert names == session.host.added()[-1:]
    assert called == ["second", "first"]


async def test_a_setting_prefers_another_plugin(activated):
    called = []
    session = await activated(
        lambda pi: pi.register_command("go", lambda args, ctx: called.append("first")),
        lambda pi: pi.register_command("go", lambda args, ctx: called.append("second")),
        settings={"plugins": {"prefer": {"command:go": "inline-2"}}},
    )

    await session.prompt("/go")

    assert called == ["first"]


async def test_a_command_of_a_hook_and_one_of_run_time_follow_load_order(session_of):
    called = []

    class Hooked:
        @hookimpl
        def register_commands(self):
            return [Command(name="go", handler=lambda args, ctx: called.append("hook"))]

    session = session_of(
        Hooked(),
        extension_factories=[lambda pi: pi.register_command("go", lambda args, ctx: called.append("run time"))],
    )
    await session.prompt("/go")

    assert called == ["run time"]


@pytest.mark.parametrize("name", ["", "/go", "two words", " go"])
async def test_a_command_that_cannot_be_typed_is_refused(activated, problems, name):
    await activated(lambda pi: pi.register_command(name, lambda args, ctx: None))

    assert "cannot be typed" in problems()[0]


@pytest.mark.parametrize("method", ["on", "register_command", "register_shortcut", "register_message_renderer"])
async def test_a_decorator_without_a_name_is_reported_with_the_correct_form(activated, problems, method):
    def activate(pi):
        @getattr(pi, method)
        def turn_end(event, ctx):
            pass

    await activated(activate)

    assert f"pi.{method} takes its " in problems()[0]
    assert "as in @pi." in problems()[0]


@pytest.mark.parametrize("name", ["", "--", "my flag", "---x", "a=b"])
async def test_a_flag_that_cannot_be_typed_is_refused(activated, problems, name):
    await activated(lambda pi: pi.register_flag(name))

    assert f"flag {name!r} cannot be typed" in problems()[0]


async def test_a_tool_of_a_decorated_function_is_offered_from_the_next_request(activated, script):
    session = await activated()
    made = []

    def activate(pi):
        @pi.on("turn_end")
        def once(event):
            if made:
                return

            @pi.register_tool(label="Dice")
            def dice() -> str:
                """Roll dice."""
                return "four"

            made.append(dice)

    session = await activated(activate)
    script.turn(text("Hello")).turn(tool_call("dice")).turn(text("Four"))
    await session.prompt("hello")
    await session.prompt("roll")

    assert [tool.name for tool in script.requests[0].context.tools] == []
    assert [tool.name for tool in script.requests[1].context.tools] == ["dice"]
    assert script.requests[2].tool_results[0].text == "four"
    assert made[0].label == "Dice"


async def test_options_count_for_a_function_that_is_handed_over_too(activated, problems):
    def shout(word: str) -> str:
        """Say it louder."""
        return word.upper()

    def activate(pi):
        made = pi.register_tool(shout, name="yell", label="Yell")
        pi.register_tool(made, label="Whisper")

    session = await activated(activate)

    assert [each.label for each in session.get_all_tools() if each.name == "yell"] == ["Yell"]
    assert "tool 'yell' is already a Tool; set label where it" in problems()[0]


async def test_active_tools_are_chosen_and_unknown_names_ignored(activated, script):
    held = []

    def activate(pi):
        held.append(pi)
        pi.register_tool(named("one"))
        pi.register_tool(named("two"))

    session = await activated(activate)
    (pi,) = held
    before = pi.get_active_tools()
    pi.set_active_tools(["two", "three"])
    script.turn(text("Hello"))
    await session.prompt("hello")

    assert before == ["one", "two"]
    assert pi.get_active_tools() == ["two"]
    assert [tool.name for tool in script.requests[0].context.tools] == ["two"]
    assert [(each.name, each.plugin, each.active) for each in pi.get_all_tools()] == [
        ("one", pi.plugin, False),
        ("two", pi.plugin, True),
    ]


async def test_handlers_follow_the_rules_of_the_hook(activated, script, problems):
    def guard(pi):
        pi.on("tool_call", lambda event: ToolCallResult(block=True, reason="not here"))

    def broken(pi):
        @pi.on("turn_start")
        async def handler(event, ctx):
            raise ValueError("no turn for me")

    session = await activated(guard, broken, lambda pi: pi.register_tool(named("rm")))
    script.turn(tool_call("rm")).turn(text("Well."))
    await session.prompt("clean up")

    assert "not here" in script.requests[1].tool_results[0].text
    assert "no turn for me" in problems()[0]


async def test_an_unknown_event_is_reported_where_it_was_registered(activated, problems):
    await activated(lambda pi: pi.on("turn_stop", print))

    assert "Unknown event: turn_stop. Did you mean" in problems()[0]
    assert "test_pi_registrations.py, line" in problems()[0]


async def test_a_handler_that_is_not_callable_is_reported_at_its_definition(activated, problems):
    await activated(lambda pi: pi.on("turn_end", lambda a, b, c: None))

    assert "a handler takes event and ctx" in problems()[0]


async def test_what_was_registered_before_activate_failed_stays(activated, problems):
    def activate(pi):
        pi.register_command("go", lambda args, ctx: None)
        raise RuntimeError("half way")

    session = await activated(activate)

    assert [each.name for each in await session.get_commands()] == ["go"]
    assert "half way" in problems()[0]


async def test_nothing_but_registering_works_while_activate_runs(activated, problems):
    await activated(lambda pi: pi.append_entry("note"))

    assert "A plugin can only register things while activate runs" in problems()[0]


async def test_flags_have_the_command_lines_value_or_their_default(activated):
    held = []

    def activate(pi):
        held.append(pi)
        pi.register_flag("plan")
        pi.register_flag("todo-file", type=str, default="todo.md", description="Start from this file")
        pi.register_flag("--loud", type=bool)

    await activated(activate, flags={"loud": True, "todo-file": None})
    (pi,) = held

    assert [pi.get_flag(name) for name in ("plan", "todo-file", "loud", "other")] == [False, "todo.md", True, None]


async def test_flags_of_the_hook_are_read_the_same_way(session_of):
    class Hooked:
        @hookimpl
        def register_flags(self):
            return [Flag(name="speed", type="string", default="slow")]

    held = []
    session = session_of(Hooked(), extension_factories=[held.append])
    await session.start()

    assert held[0].get_flag("speed") == "slow"
    assert (session.ctx.get_flag("speed"), session.ctx.get_flag("other")) == ("slow", None)


async def test_a_flag_of_another_type_is_refused(activated, problems):
    await activated(lambda pi: pi.register_flag("loud", type=int))

    assert "neither bool nor str" in problems()[0]


async def test_shortcuts_and_renderers_are_found_by_front_ends(activated):
    def activate(pi):
        pi.register_shortcut("ctrl+t", lambda ctx: None, description="To-dos")

        @pi.register_message_renderer("todo")
        def render(value, *, width, expanded):
            return [str(value)[:width]]

    session = await activated(activate)
    shortcut = session.runtime.registrations.find("register_shortcuts", "ctrl+t").thing
    renderer = session.runtime.registrations.find("register_renderers", "todo").thing

    assert shortcut.description == "To-dos"
    assert renderer.render("a long text", width=6, expanded=False) == ["a long"]


async def test_a_renderer_that_is_none_is_refused(activated, problems):
    await activated(lambda pi: pi.register_message_renderer("todo", 5))

    assert "neither a Renderer nor a function" in problems()[0]


async def test_a_provider_is_there_until_it_is_unregistered(activated, script):
    held = []

    def activate(pi):
        held.append(pi)
        config = {"baseUrl": "http://127.0.0.1:1", "api": "acme-1", "apiKey": "k", "models": [{"id": "small"}]}
        pi.register_provider("acme", config, stream=script.stream)

    session = await activated(activate)
    (pi,) = held
    script.turn(text("I am Acme"))
    assert await pi.set_model("acme/small")
    answer = await session.prompt("who?")
    pi.unregister_provider("acme")
    pi.unregister_provider("acme")

    assert answer.text == "I am Acme"
    assert "acme" not in session.models.get_providers()


async def test_two_plugins_may_change_one_provider_and_each_takes_back_its_own(activated):
    held = []
    config = {"baseUrl": "http://127.0.0.1:1", "api": "acme-1", "models": [{"id": "small"}]}

    def add(pi):
        pi.register_provider("acme", config)

    def redirect(pi):
        held.append(pi)
        pi.register_provider("acme", {"baseUrl": "http://127.0.0.1:2"})

    session = await activated(add, redirect)
    redirected = session.models.get_model("acme", "small")
    held[0].unregister_provider("acme")

    assert redirected.base_url == "http://127.0.0.1:2"
    assert session.models.get_model("acme", "small").base_url == "http://127.0.0.1:1"


async def test_a_model_without_a_key_is_not_taken(activated):
    held = []

    def activate(pi):
        held.append(pi)
        pi.register_provider("acme", {"baseUrl": "http://127.0.0.1:1", "api": "acme-1", "models": [{"id": "small"}]})

    session = await activated(activate)
    before = session.model

    assert await held[0].set_model(session.models.get_model("acme", "small")) is False
    assert session.model is before


async def test_a_wrong_provider_is_reported(activated, problems):
    await activated(lambda pi: pi.register_provider("acme", {"models": 5}))

    assert "acme" in problems()[0]


async def test_everything_is_withdrawn_when_the_session_ends(activated):
    held = []
    session = await activated(lambda pi: held.append((pi, pi.on("turn_end", print))))
    await session.dispose()

    assert session.hooks.implementations("turn_end") == ()


def named(name):
    from pi_testing import make_tool

    return make_tool(name)


async def test_automatic_compactions_have_names_of_their_own(activated, problems):
    from pi_hookspecs import CompactionStartEvent

    received = []

    def activate(pi):
        pi.on("auto_compaction_start", lambda event, ctx: received.append((event.reason, ctx.cwd.is_dir())))

        @pi.on("auto_compaction_start")
        async def broken(event):
            raise ValueError("not now")

    session = await activated(activate)
    await session.emit(CompactionStartEvent(reason="manual"))
    await session.emit(CompactionStartEvent(reason="threshold"))

    assert received == [("threshold", True)]
    assert "not now" in problems()[0]


async def test_what_a_plain_command_returns_is_nobodys(activated, problems):
    session = await activated(lambda pi: pi.register_command("go", lambda args, ctx: "done"))
    await session.prompt("/go")

    assert problems() == []


async def test_an_observer_gets_each_activation_once_also_after_a_reload(activated):
    traces = []
    session = await activated(lambda pi: None, lambda pi: pi.observe_hooks(traces.append), lambda pi: None)
    first, traces[:] = [each.plugin for each in traces if each.hook == "activate"], []

    await session.reload()

    again = [each.plugin for each in traces if each.hook == "activate"]
    assert first == again == ["inline-2", "inline-3", "inline-4"]
