"""From options to a session: every option is optional and does what it says."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading

import pytest
from attrs import evolve

from pi_core import PluginHost, SessionManager, Settings, UsageLimits, arun, create_agent_session, run
from pi_hookspecs import Model, NoModel, PiError, ProviderInfo, Tool, ToolResult, UnknownName, UserError, hookimpl
from pi_testing import ScriptedProvider, error, text, tool_call, usage
from pi_testing.patience import PATIENCE


def tool(name, **fields):
    async def execute(call_id, params, signal, update, ctx):
        return ToolResult.text(name)

    return Tool(name=name, description=name, parameters={"type": "object"}, execute=execute, **fields)


class Tools:
    @hookimpl
    def register_tools(self):
        named = ["read", "bash", "edit", "write"]
        return [*map(tool, named), *(tool(name, default_active=False) for name in ("grep", "find", "ls"))]


@pytest.fixture
async def create(tmp_path, pi_agent_dir, script):
    made = []

    def make(**options):
        settings = options.pop("settings", None) or Settings.in_memory({}, agent_dir=pi_agent_dir)
        defaults = {
            "cwd": tmp_path,
            "host": PluginHost(settings, installed=False),
            "plugins": {"script": script, "tools": Tools()},
            "settings": settings,
            "model": script.model,
        }
        session = create_agent_session(**{**defaults, **options})
        made.append(session)
        return session

    yield make
    for session in made:
        await session.dispose()


async def offered(session, script):
    script.turn(text("ok"))
    await session.prompt("hi")
    return list(script.requests[-1].tools)


# Tools


async def test_four_tools_are_active_by_default(create, script):
    assert await offered(create(), script) == ["read", "bash", "edit", "write"]


async def test_names_select_in_their_order(create, script):
    assert await offered(create(tools=["ls", "read", "ls"]), script) == ["ls", "read"]


async def test_no_names_select_nothing(create, script):
    assert await offered(create(tools=[]), script) == []


async def test_read_only_tools_are_four(create, script):
    assert await offered(create(read_only_tools=True), script) == ["read", "grep", "find", "ls"]


async def test_custom_tools_are_added_and_win(create, script):
    mine = tool("read")
    session = create(custom_tools=[mine, tool("extra")])

    assert await offered(session, script) == ["read", "bash", "edit", "write", "extra"]
    assert next(each for each in script.requests[0].context.tools if each.name == "read") is mine


async def test_custom_tools_come_with_a_selection_too(create, script):
    session = create(tools=["ls"], custom_tools=[tool("extra")])

    assert await offered(session, script) == ["ls", "extra"]


async def test_unknown_names_warn_and_the_rest_works(create, script):
    session = create(tools=["ls", "grepp", "extra"], custom_tools=[tool("extra")])

    assert await offered(session, script) == ["ls", "extra"]
    assert session.toolbox.warnings == ["Unknown tool: grepp. Did you mean grep?"]


async def test_a_program_is_warned_of_names_that_nothing_has(create, script):
    session = create(tools=["ls", "grepp"], model="scripted/nope")

    with pytest.warns(UserWarning, match="nope|grepp") as caught:
        async with session:
            pass

    assert sorted(str(each.message) for each in caught) == [
        'Model "nope" not found for provider "scripted". Using custom model id.',
        "Unknown tool: grepp. Did you mean grep?",
    ]
    assert {each.filename for each in caught} == {__file__}


async def test_a_selected_tool_may_be_added_at_run_time(create, script):
    class Adds:
        @hookimpl
        def activate(self, pi):
            pi.register_tool(tool("late"))
            pi.register_tool(tool("later"))

    session = create(tools=["late"], plugins={"script": script, "adds": Adds()})

    assert await offered(session, script) == ["late"]
    assert session.toolbox.warnings == []


# Model and thinking


async def test_a_model_may_be_named(create, script):
    assert create(model="scripted/model").model == script.model
    assert create(model="model", provider="scripted").model == script.model


async def test_without_a_model_the_first_usable_default_is_chosen(create, script):
    assert create(model=None, environ={}).model == script.model


async def test_nothing_to_choose_from_is_an_error(create):
    with pytest.raises(NoModel, match="To try pi without a key"):
        create(model=None, plugins={}, environ={})


async def test_a_session_can_begin_without_a_model_which_only_its_prompts_need(create):
    session = create(model=None, plugins={}, environ={}, model_required=False)
    assert session.model is None
    with pytest.raises(NoModel, match="No model selected"):
        await session.prompt("Hi")


async def test_an_unknown_provider_is_an_error(create):
    with pytest.raises(UnknownName, match="Unknown provider: scripte"):
        create(model="x", provider="scripte")


@pytest.mark.parametrize(
    ("asked", "reasoning", "used"),
    [
        ((None, None), True, "medium"),
        ((None, "low"), True, "low"),
        ((None, "nonsense"), True, "medium"),
        (("high", "low"), True, "high"),
        (("max", None), True, "high"),
        (("off", "low"), True, "off"),
        (("high", None), False, "off"),
    ],
)
async def test_the_thinking_level(create, script, asked, reasoning, used):
    level, setting = asked
    session = create(
        model=evolve(script.model, reasoning=reasoning),
        thinking_level=level,
        settings=Settings.in_memory({"defaultThinkingLevel": setting}),
    )
    script.turn(text("ok"))
    await session.prompt("hi")

    assert session.thinking_level == used
    assert script.requests[0].options.reasoning == (None if used == "off" else used)


# The prompt


async def test_the_system_prompt_lists_tools_and_ends_in_the_working_directory(create, script, tmp_path):
    tools = [tool("shout", prompt_snippet="Say it loud", prompt_guidelines=["Shout rarely", "Shout rarely"])]
    await offered(create(tools=["read"], custom_tools=tools), script)

    prompt = script.requests[0].system_prompt
    assert "- shout: Say it loud" in prompt
    assert "- read" not in prompt
    assert prompt.count("- Shout rarely") == 1
    assert prompt.endswith(f"<cwd>\nCurrent working directory: {tmp_path}\n</cwd>")


async def test_another_system_prompt_and_paragraphs_after_it(create, script, tmp_path):
    await offered(create(system_prompt="Be a pirate.", append_system_prompt=["Arr.", "Arr!"]), script)

    assert script.requests[0].system_prompt == (
        f"Be a pirate.\n\n<addendum>\nArr.\n\nArr!\n</addendum>\n\n<cwd>\nCurrent working directory: {tmp_path}\n</cwd>"
    )


# The rest


async def test_a_conversation_may_be_given(create, script):
    manager = SessionManager.in_memory("/somewhere")
    session = create(session_manager=manager)
    await offered(session, script)

    assert session.session_id == manager.id
    assert [entry.type for entry in manager.get_branch(records=False)][2:] == ["message", "message"]
    assert script.requests[0].options.session_id == manager.id


async def test_there_is_no_user_to_ask(create):
    session = create()

    assert session.ctx.has_ui is False
    assert await session.ctx.ui.confirm("Sure?") is False
    assert await session.ctx.ui.select("Which?", ["a"]) is None
    assert await session.ctx.ui.input("What?") is None
    assert await session.ctx.ui.editor("What?") is None
    session.ctx.ui.notify("psst")


async def test_the_front_end_is_known(create, fake_ui):
    session = create(ui=fake_ui, mode="tui")
    fake_ui.answers(True)

    assert (session.ctx.has_ui, session.ctx.mode) == (True, "tui")
    assert await session.ctx.ui.confirm("Sure?") is True


async def test_settings_are_read_from_the_files(tmp_path, pi_agent_dir, script):
    pi_agent_dir.joinpath("settings.json").write_text(json.dumps({"steeringMode": "all"}))
    session = create_agent_session(
        cwd=tmp_path,
        agent_dir=pi_agent_dir,
        host=PluginHost(Settings.in_memory({}, agent_dir=pi_agent_dir), installed=False),
        plugins={"script": script},
        model=script.model,
    )

    assert session.agent.steering_mode == "all"
    await session.dispose()


async def test_every_hook_call_can_be_traced(create, script):
    class Listens:
        @hookimpl
        def turn_start(self, event):
            pass

    traced = []
    session = create(plugins={"script": script, "listens": Listens()}, trace=traced.append)
    await offered(session, script)

    assert [(each.hook, each.plugin, each.changed) for each in traced] == [("turn_start", "listens", False)]


async def test_shutting_down_is_asked_of_the_front_end(create):
    session = create()
    session.ctx.shutdown()

    await asyncio.wait_for(session.shutdown_requested.wait(), PATIENCE)


def test_run_answers_one_prompt(tmp_path, pi_agent_dir):
    script = ScriptedProvider().turn(text("Hello"))
    settings = Settings.in_memory({}, agent_dir=pi_agent_dir)
    answer = run(
        "hi",
        cwd=tmp_path,
        settings=settings,
        host=PluginHost(settings, installed=False),
        plugins={"script": script},
        model=script.model,
    )

    assert answer == "Hello"


@pytest.fixture
def run_scripted(tmp_path, pi_agent_dir):
    """Answer one prompt with a turn that is written down."""
    settings = Settings.in_memory({}, agent_dir=pi_agent_dir)

    def answer(*steps, prompt="hi", **options):
        script = ScriptedProvider().turn(*steps)
        host = PluginHost(settings, installed=False)
        plugins = {"script": script}
        return run(
            prompt,
            **{"cwd": tmp_path, "settings": settings, "host": host, "plugins": plugins, "model": script.model}
            | options,
        )

    return answer


async def test_arun_answers_inside_a_running_loop(tmp_path, pi_agent_dir):
    script = ScriptedProvider().turn(text('{"result": [1, 2]}'), usage(input=5, output=2))
    settings = Settings.in_memory({}, agent_dir=pi_agent_dir)
    answer = await arun(
        "Count",
        output_type=list[int],
        limits=UsageLimits(requests=1),
        cwd=tmp_path,
        settings=settings,
        host=PluginHost(settings, installed=False),
        plugins={"script": script},
        model=script.model,
    )

    assert (answer.output, answer.usage.total_tokens) == ([1, 2], 7)


def test_run_reports_why_there_is_no_answer(run_scripted):
    with pytest.raises(PiError, match="the server is on fire"):
        run_scripted(text("Half an "), error("400 the server is on fire"))


async def test_run_answers_inside_a_running_loop_as_in_a_notebook(run_scripted):
    assert run_scripted(text("Two files.")) == "Two files."
    with pytest.raises(PiError, match="the server is on fire"):
        run_scripted(error("400 the server is on fire"))


async def test_a_run_that_is_interrupted_inside_a_running_loop_aborts_its_prompt(run_scripted):
    begun, ended = threading.Event(), threading.Event()

    async def wait(call_id, params, signal, update, ctx):
        begun.set()
        try:
            await asyncio.sleep(600)
        finally:
            ended.set()

    interrupt = threading.Thread(target=lambda: begun.wait(PATIENCE) and os.kill(os.getpid(), signal.SIGINT))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # as kernels do around a cell
    interrupt.start()
    waiting = Tool(name="wait", description="wait", parameters={"type": "object"}, execute=wait)
    with pytest.raises(KeyboardInterrupt):
        run_scripted(tool_call("wait"), custom_tools=[waiting])
    interrupt.join()
    signal.signal(signal.SIGINT, before)

    assert ended.is_set()


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"prompt": 3}, TypeError, "not 3"),
        ({"prompt": ["hi"]}, TypeError, r"not \['hi'\]"),
        ({"tools": "read"}, TypeError, "tools must be a list of names and patterns, not the string 'read'"),
        ({"disable": ["scrypt"]}, UserError, "Unknown plugin: scrypt"),
        ({"disable": ["scrypt"], "host": None}, UserError, "Unknown plugin: scrypt"),
        (
            {"custom_tools": [lambda path: ""]},
            TypeError,
            "custom_tools: the function '<lambda>' is not of type Tool; decorate",
        ),
        ({"custom_tools": [None]}, TypeError, "custom_tools: None is not of type Tool"),
        ({"thinking_level": "hugo"}, UnknownName, "Unknown thinking level: hugo. Use one of off, "),
        ({"cwd": "/not/there"}, UserError, "'/not/there' does not exist"),
    ],
    ids=["number", "text in a list", "tools", "disabled", "disabled here", "function", "no tool", "thinking", "cwd"],
)
def test_an_invalid_option_is_reported_with_its_value(run_scripted, options, kind, message):
    with pytest.raises(kind, match=message):
        run_scripted(text("never"), **options)


async def test_a_listener_that_cannot_be_called_is_refused_at_once(create):
    with pytest.raises(TypeError, match="not 3"):
        create().subscribe(3)


def test_a_provider_that_is_only_data_needs_no_plugin_of_its_own():
    table = ProviderInfo(id="a", name="A", api="scripted", keyless=True, default_model="m")

    assert table.custom_model("m") == Model(id="m", name="m", api="scripted", provider="a")


def test_importing_the_engine_loads_nothing_heavy():
    code = (
        "import sys, pi_core.create, pi_core.conversation\n"
        "heavy = {'cattrs', 'jsonschema', 'importlib_metadata', 'httpx', 'orjson', 'click'} & set(sys.modules)\n"
        "sys.exit(', '.join(sorted(heavy)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)

    assert done.returncode == 0, done.stderr


def test_host_and_settings_default_to_those_of_the_current_directory(tmp_path, monkeypatch, pi_agent_dir):
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(pi_agent_dir))
    monkeypatch.chdir(tmp_path)
    (pi_agent_dir / "settings.json").write_text('{"defaultModel": "rules"}')

    assert Settings.load().get_str("defaultModel", None) == "rules"
    assert PluginHost(installed=False).settings.get_str("defaultModel", None) == "rules"
