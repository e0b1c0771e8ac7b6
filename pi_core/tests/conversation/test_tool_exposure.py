"""When the model is offered a tool, and what plugins read of it."""

from __future__ import annotations

import pytest

from pi_core import PluginHost, Settings, create_agent_session
from pi_core.agent.declarations import tool_declaration
from pi_hookspecs import PluginError, Tool, ToolAnnotations, ToolCallResult, hookimpl, tool
from pi_testing import make_tool, text, tool_call


@pytest.fixture
async def session_with(tmp_path, pi_agent_dir, script):
    """Start a session of one plugin, ``files``, that registers these tools; ``session_with.pi`` is another's ``pi``."""
    made = []

    async def start(*tools, **options):
        class Files:
            @hookimpl
            def register_tools(self):
                return list(tools)

        settings = Settings.in_memory({}, agent_dir=pi_agent_dir)
        session = create_agent_session(
            cwd=tmp_path,
            settings=settings,
            host=PluginHost(settings, installed=False),
            plugins={"script": script, "files": Files()},
            extension_factories=[lambda pi: setattr(start, "pi", pi)],
            model=script.model,
            **options,
        )
        made.append(session)
        await session.start()
        return session

    yield start
    for session in made:
        await session.dispose()


async def test_deferred_and_hidden_tools_and_those_of_scripts_are_not_offered(session_with):
    session = await session_with(
        make_tool("look"),
        make_tool("later", exposure="deferred"),
        make_tool("never", exposure="hidden"),
        make_tool("scripted", exposure="code"),
    )

    assert session.get_active_tools() == ["look"]


async def test_a_pattern_offers_no_deferred_tool(session_with):
    session = await session_with(make_tool("look"), make_tool("later", exposure="deferred"), tools=["*"])

    assert session.get_active_tools() == ["look"]


async def test_the_user_offers_a_deferred_tool_by_its_name(session_with):
    session = await session_with(make_tool("look"), make_tool("later", exposure="deferred"), tools=["+later"])

    assert session.get_active_tools() == ["look", "later"]


async def test_a_plugin_activates_a_deferred_tool_for_the_next_request(session_with, script):
    session = await session_with(make_tool("look"), make_tool("later", exposure="deferred"))
    script.turn(text("One.")).turn(text("Two."))

    await session.prompt("one")
    session_with.pi.set_active_tools(["look", "later"])
    await session.prompt("two")

    assert [[*request.tools] for request in script.requests] == [["look"], ["look", "later"]]


async def test_a_hidden_tool_cannot_be_activated(session_with):
    session = await session_with(make_tool("look"), make_tool("never", exposure="hidden"), tools=["look", "never"])
    session_with.pi.set_active_tools(["never", "look"])

    assert session.get_active_tools() == ["look"]


async def test_a_deferred_tool_of_the_program_waits_too(session_with):
    session = await session_with(tools=["late"], custom_tools=[make_tool("later", exposure="deferred")])

    assert session.get_active_tools() == []


async def test_plugins_read_what_a_tool_states(session_with):
    states = ToolAnnotations(title="Search", read_only=True, open_world=True)
    schema = {"type": "object"}
    await session_with(
        make_tool("look", annotations=states, output_schema=schema, exposure="deferred", namespace="docs"),
        make_tool("plain"),
    )

    plain, look = sorted(session_with.pi.get_all_tools(), key=lambda each: each.exposure)[::-1]

    assert (look.annotations, look.output_schema, look.exposure, look.namespace) == (states, schema, "deferred", "docs")
    assert (plain.annotations, plain.output_schema, plain.exposure) == (ToolAnnotations(), None, "direct")


async def test_a_guard_reads_what_the_called_tool_states(session_with, script):
    session = await session_with(make_tool("look", annotations=ToolAnnotations(read_only=True)), make_tool("change"))
    seen = []

    @session_with.pi.on("tool_call")
    def only_reading(event):
        seen.append((event.tool.name, event.tool.plugin, event.tool.active))
        return None if event.tool.annotations.read_only else ToolCallResult(block=True, reason="Only reading.")

    script.turn(tool_call("look"), tool_call("change")).turn(text("Done."))
    await session.prompt("go")

    assert [each.is_error for each in script.requests[1].tool_results] == [False, True]
    assert seen == [("look", "files", True), ("change", "files", True)]


def test_the_model_is_sent_the_same_declaration_whatever_a_tool_states():
    plain = make_tool("look")
    stating = make_tool(
        "look", annotations=ToolAnnotations(title="Look"), output_schema={"type": "object"}, namespace="docs"
    )

    assert tool_declaration(stating) == tool_declaration(plain)


def test_the_decorator_passes_them_on():
    @tool(annotations=ToolAnnotations(read_only=True), output_schema={}, exposure="hidden", namespace="docs")
    def look() -> str:
        """Look."""
        return ""

    assert look.annotations == ToolAnnotations(read_only=True)
    assert (look.output_schema, look.exposure, look.namespace) == ({}, "hidden", "docs")


async def test_a_registration_over_a_function_passes_them_on(session_with):
    session = await session_with()

    @session_with.pi.register_tool(exposure="deferred", namespace="docs")
    def look() -> str:
        """Look."""
        return ""

    (info,) = session.get_all_tools()
    assert (info.exposure, info.namespace, info.active) == ("deferred", "docs", False)


def test_another_exposure_is_an_error():
    with pytest.raises(ValueError, match="exposure must be 'direct', 'deferred', 'hidden' or 'code', not 'lazy'"):
        make_tool("look", exposure="lazy")


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        (
            {"annotations": {"title": "x"}},
            "annotations must be a ToolAnnotations or None, not {'title': 'x'}",
        ),
        ({"output_schema": "object"}, "output_schema must be a dict or None, not 'object'"),
        ({"namespace": 5}, "namespace must be a str or None, not 5"),
    ],
)
async def test_a_field_of_a_wrong_type_is_refused_at_registration(session_with, fields, problem):
    await session_with()
    wrong = make_tool("look", **fields)

    with pytest.raises(PluginError) as caught:
        session_with.pi.register_tool(wrong)

    assert problem in str(caught.value)


def test_a_tool_without_them_is_direct_and_states_nothing():
    async def execute(*_):
        raise NotImplementedError

    plain = Tool(name="look", description="Look.", parameters={"type": "object"}, execute=execute)

    assert (plain.annotations, plain.output_schema, plain.exposure, plain.namespace) == (None, None, "direct", None)


async def test_the_list_of_tools_follows_what_is_added_selected_and_removed(session_with):
    session = await session_with(make_tool("look"), make_tool("listen"))

    def listed():
        return {each.name: each.active for each in session_with.pi.get_all_tools()}

    assert listed() == {"listen": True, "look": True}
    remove = session_with.pi.register_tool(make_tool("touch"))
    assert listed() == {"listen": True, "look": True, "touch": True}
    session.set_active_tools(["touch"])
    assert listed() == {"listen": False, "look": False, "touch": True}
    remove()
    assert listed() == {"listen": False, "look": False}
