"""What a program asks of a session, by the names that it has in the original too."""

from __future__ import annotations

import asyncio
import sys

import pytest
from attrs import evolve

from pi_core import (
    AgentSession,
    PluginHost,
    SessionManager,
    Settings,
    create_agent_session_from_services,
    create_agent_session_runtime,
    create_agent_session_services,
)
from pi_hookspecs import BashExecutionMessage, Command, Flag, hookimpl
from pi_testing import text, usage
from pi_testing.patience import PATIENCE

NAMES = """
    agent session_manager settings_manager state model thinking_level is_streaming system_prompt messages steering_mode
    follow_up_mode session_file session_id session_name pending_message_count is_compacting is_retrying retry_attempt
    auto_compaction_enabled auto_retry_enabled is_bash_running scoped_models model_registry resource_loader
    get_prompt_templates subscribe dispose reload prompt steer follow_up abort clear_queue get_steering_messages
    get_follow_up_messages send_user_message send_custom_message wait_for_idle set_model cycle_model set_scoped_models
    set_thinking_level cycle_thinking_level get_available_thinking_levels supports_thinking supports_xhigh_thinking
    new_session switch_session fork navigate_tree set_session_name get_user_messages_for_forking get_session_stats
    get_context_usage get_last_assistant_text export_to_html export_to_jsonl import_from_jsonl get_active_tool_names
    get_all_tools set_active_tools_by_name set_steering_mode set_follow_up_mode compact abort_compaction
    abort_branch_summary set_auto_compaction_enabled abort_retry set_auto_retry_enabled execute_bash record_bash_result
    abort_bash bind_extensions
"""


def test_a_session_has_every_name_of_the_contract(session_of):
    session = session_of()

    for name in NAMES.split():
        attribute = getattr(session, name)
        assert callable(attribute) is not isinstance(getattr(AgentSession, name, property()), property), name


MORE_NAMES = """
    bus flags get_flag emit report_plugin_error
    tree queue tools commands completions renderings themes bash retry compaction
"""


@pytest.mark.parametrize("name", MORE_NAMES.split())
def test_a_session_has_its_parts_and_the_verbs_of_front_ends(session_of, name):
    assert hasattr(session_of(), name)


async def test_a_program_reads_options_and_runs_programs(session_of):
    class Plugin:
        @hookimpl
        def register_flags(self):
            return [Flag(name="depth", type="string", default="3"), Flag(name="loud", type="boolean")]

    session = session_of(Plugin(), flags={"loud": True})

    assert (session.get_flag("depth"), session.get_flag("loud"), session.get_flag("none")) == ("3", True, None)
    assert session.flags == {"loud": True}
    assert (await session.ctx.exec(sys.executable, ["-c", "print(1)"])).stdout == "1\n"


async def test_a_session_describes_itself(session_of):
    session = session_of(session_manager=SessionManager.in_memory())
    await session.set_session_name("about zebras")

    assert (session.session_name, session.session_file) == ("about zebras", None)
    assert session.model_registry is session.models
    assert session.settings_manager is session.settings
    assert await session.get_prompt_templates() == ()


async def test_stats_report_how_full_the_window_is(session_of, script):
    session = session_of()
    script.turn(text("hello"), usage(input=1000, output=234))
    await session.prompt("hi")

    stats = session.get_session_stats()
    assert (stats.user_messages, stats.assistant_messages, stats.session_id) == (1, 1, session.session_id)
    assert stats.context_usage == session.get_context_usage() == session.ctx.context_usage()
    assert stats.context_usage.context_window == script.model.context_window
    assert stats.context_usage.percent == 100 * 1234 / script.model.context_window


async def test_the_last_text_has_no_space_around_it(session_of, script):
    session = session_of()
    before = session.get_last_assistant_text()
    script.turn(text("\n hello \n"))
    await session.prompt("hi")

    assert before is None
    assert session.get_last_assistant_text() == "hello"


async def test_queued_messages_are_sent_according_to_the_modes(session_of, script):
    session = session_of(settings={"steeringMode": "all"})
    session.set_follow_up_mode("all")
    was = session.steering_mode
    session.set_steering_mode("one-at-a-time")

    assert was == "all"
    assert (session.agent.steering_mode, session.agent.follow_up_mode) == ("one-at-a-time", "all")


async def test_a_model_thinks_harder_than_high_only_where_it_says_so(session_of, script):
    hard = evolve(script.model, reasoning=True, thinking_level_map={"xhigh": "max"})

    assert not session_of(model=evolve(hard, thinking_level_map={})).supports_xhigh_thinking()
    assert session_of(model=hard).supports_xhigh_thinking()


async def test_tools_are_chosen_by_name(session_of, tool):
    session = session_of(tools=[tool("cut"), tool("sew")])
    await session.start()
    session.set_active_tools_by_name(["sew", "nobody"])

    assert session.get_active_tool_names() == ["sew"]
    assert {each.name: each.active for each in session.get_all_tools()} == {"cut": False, "sew": True}


async def test_a_runtime_goes_from_one_conversation_to_the_next(session_of, script, tmp_path, installed_host):
    script.turn(text("hello"))
    stored = SessionManager.create(tmp_path, host=installed_host)
    async with create_agent_session_runtime(session_of, session_manager=stored) as runtime:
        session, first = runtime.session, runtime.session.session_file
        await session.prompt("hi")
        assert await runtime.new_session()
        new = session.session_file
        assert await runtime.switch_session(first)
        forked = await runtime.fork(session.get_user_messages_for_forking()[0][0])

    assert runtime.session is session
    assert new != first
    assert forked.selected_text == "hi"
    assert runtime.services.settings is session.settings
    assert runtime.services.cwd == session.cwd


async def test_sessions_share_services_and_nothing_else(script, tmp_path, pi_agent_dir):
    activated = []
    settings = Settings.in_memory({}, agent_dir=pi_agent_dir)
    services = create_agent_session_services(
        cwd=tmp_path,
        settings=settings,
        host=PluginHost(settings, installed=False),
        plugins={"script": script},
        extension_factories=[activated.append],
    )
    made = [
        create_agent_session_from_services(
            services, model=script.model, session_manager=SessionManager.in_memory(), system_prompt=word
        )
        for word in ("one", "two")
    ]
    script.turn(text("hello"))
    async with made[0] as one, made[1] as two:
        await one.prompt("hi")

        assert (len(one.messages), len(two.messages), len(activated)) == (2, 0, 2)
        assert one.host is two.host is services.host
        assert one.model_registry is two.model_registry
        assert one.system_prompt.startswith("one")


class Leaves:
    @hookimpl
    def register_commands(self):
        return [Command(name="leave", handler=self.leave), Command(name="fail", handler=lambda arguments, ctx: 1 / 0)]

    async def leave(self, arguments, ctx):
        ctx.ui.notify("bye")
        ctx.shutdown()


class Ui:
    def __init__(self):
        self.notices = []

    def notify(self, message, level="info"):
        self.notices.append(message)


async def test_a_program_binds_its_front_end_to_the_plugins(session_of):
    session, ui, failures, ended = session_of(Leaves()), Ui(), [], asyncio.Event()

    async def end() -> None:
        await session.dispose()
        ended.set()

    await session.bind_extensions(ui=ui, shutdown_handler=end, on_error=failures.append)
    await session.prompt("/fail")
    await session.prompt("/leave")
    await asyncio.wait_for(ended.wait(), PATIENCE)

    assert (ui.notices, session.has_ui) == (["bye"], True)
    assert [each.event for each in failures] == ["command"]


class Elsewhere:
    @hookimpl
    def register_services(self):
        return [self]

    async def run_command(self, request, ctx):
        return BashExecutionMessage(command=request.command, output=f"in {request.operations}", exit_code=0)


async def test_a_program_may_choose_what_runs_user_commands(session_of):
    session = session_of(Elsewhere())

    assert (await session.execute_bash("ls", operations="a box")).output == "in a box"
    assert (await session.execute_bash("ls")).output == "in None"


async def test_a_listener_may_be_a_lambda_that_returns_something(session_of, script):
    session, received = session_of(), []
    session.subscribe(lambda event: received.append(event.type) or len(received))
    script.turn(text("hello"))

    await session.prompt("hi")

    assert received[-1] == "agent_settled"
