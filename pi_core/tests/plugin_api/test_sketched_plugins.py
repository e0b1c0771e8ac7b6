"""The plugins that an author would write first: tool, guard, context, state, helper, models, policy, front end."""

from __future__ import annotations

import importlib
import json
import sys
from textwrap import dedent
from types import ModuleType

import pytest

from pi_hookspecs import CustomMessage
from pi_testing import make_tool, text, tool_call

WORD_COUNT = '''
"""Adds `word_count`."""
from pathlib import Path

from pi_hookspecs import ToolContext, hookimpl, tool


@tool
async def word_count(path: str, ctx: ToolContext) -> str:
    """Count the words of a text file.

    Args:
        path: The file, relative to the working directory.
    """
    return f"{len((ctx.cwd / Path(path)).read_text().split())} words"


@hookimpl
def register_tools():
    return [word_count]
'''

GUARD = """
from pi_hookspecs import ToolCallResult, hookimpl


@hookimpl
def tool_call(event):
    if event.tool_name == "bash" and "rm -rf" in event.input["command"]:
        return ToolCallResult(block=True, reason="Deleting trees is not allowed here; move them to ./trash instead.")
"""

ASKING = """
from pi_hookspecs import ToolCallResult, hookimpl


@hookimpl
async def tool_call(event, ctx):
    if event.tool_name == "write" and not await ctx.ui.confirm("Write?", event.input["path"]):
        return ToolCallResult(block=True, reason="The user said no.")
"""

CONTEXT_HOOKS = """
from pi_hookspecs import BeforeAgentStartResult, ContextResult, hookimpl


@hookimpl
def context(event):
    return ContextResult(messages=[m for m in event.messages if m.role != "custom" or m.custom_type != "stale"])


@hookimpl
def before_agent_start(event):
    return BeforeAgentStartResult(system_prompt=event.system_prompt + "\\nAnswer like a pirate.")


@hookimpl
def before_provider_request(event):
    return {**event.payload, "service_tier": "flex"}
"""

TODO = """
from pi_hookspecs import hookimpl


@hookimpl
def activate(pi):
    todos: list[str] = []

    @pi.on("session_start")
    @pi.on("session_tree")
    def rebuild(event, ctx):
        stored = (e.data for e in reversed(ctx.session.branch()) if e.type == "custom" and e.custom_type == "todo")
        todos[:] = next(stored, [])

    @pi.register_command("todo", description="Add or list to-dos")
    async def todo(args, ctx):
        if args:
            todos.append(args)
            pi.append_entry("todo", list(todos))
        ctx.ui.notify("\\n".join(todos) or "nothing to do")

    pi.register_flag("todo-file", type=str, description="Start from this file")
"""

HELPER = '''
from pi_hookspecs import ToolContext, ToolResult, hookimpl, tool


@tool(label="Ask a helper")
async def helper(task: str, ctx: ToolContext) -> ToolResult:
    """Give a task to a fresh agent with read-only tools and return its answer."""
    async with ctx.create_session(read_only_tools=True, model=ctx.model) as session:
        session.subscribe(ctx.relay)
        answer = await session.prompt(task)
        return ToolResult.text(answer.text, usage=session.usage)


@hookimpl
def register_tools():
    return [helper]
'''

ACME = """
from pi_hookspecs import hookimpl, load_models


@hookimpl
def register_models():
    return load_models(__package__, "acme.json")
"""

ACME_MODELS = {
    "baseUrl": "https://acme.example/v1",
    "keyVariables": ["ACME_API_KEY"],
    "compat": {"supportsStore": False},
    "models": [{"id": "large", "contextWindow": 1000}],
}

POLICY = """
from pi_hookspecs import Compaction, hookimpl


class FirstAndLast:
    async def compact(self, request, ctx):
        said = [entry for entry in request.entries if entry.type == "message"]
        summary = f"It began with {said[0].message.text!r}."
        return Compaction(summary=summary, first_kept_entry_id=said[-1].id, tokens_before=0)


@hookimpl
def register_services():
    return [FirstAndLast()]
"""

MODE = """
from pi_hookspecs import Mode, hookimpl

said = []


async def run_irc(session, options):
    async with session:
        for line in ("hello", "bye"):
            said.append((await session.prompt(line)).text)
    return 0


@hookimpl
def register_modes():
    return [Mode("irc", run=run_irc, interactive=True, description="Talk to pi in a channel")]
"""


@pytest.fixture
def written(monkeypatch):
    """Make a plugin of its source."""

    def make(source, name="sketched"):
        module = ModuleType(name)
        monkeypatch.setitem(sys.modules, name, module)
        exec(compile(dedent(source), f"{name}.py", "exec"), vars(module))  # noqa: S102 - the source is above
        return module

    return make


async def test_a_tool(session_of, written, script, tmp_path):
    (tmp_path / "notes.txt").write_text("one two three")
    session = session_of(written(WORD_COUNT))
    script.turn(tool_call("word_count", path="notes.txt")).turn(text("Three."))
    await session.prompt("count")

    assert script.requests[1].tool_results[0].text == "3 words"
    schema = script.requests[0].context.tools[0].parameters
    assert list(schema["properties"]) == ["path"]
    assert schema["properties"]["path"]["description"].startswith("The file, relative")


async def test_a_guard(session_of, written, script):
    bash = make_tool("bash")
    session = session_of(written(GUARD), tools=[bash])
    script.turn(tool_call("bash", command="rm -rf build")).turn(text("I will not."))
    await session.prompt("clean up")

    assert "move them to ./trash" in script.requests[1].tool_results[0].text
    assert bash.calls == []


async def test_a_guard_that_asks(session_of, written, script, fake_ui):
    write = make_tool("write")
    session = session_of(written(ASKING), tools=[write], ui=fake_ui)
    fake_ui.answers(False, True)
    script.turn(tool_call("write", path="a.txt")).turn(tool_call("write", path="b.txt")).turn(text("Done."))
    await session.prompt("write")

    assert write.calls == [{"path": "b.txt"}]
    assert "The user said no." in script.requests[1].tool_results[0].text


async def test_what_the_model_sees(session_of, written, script):
    session = session_of(written(CONTEXT_HOOKS))
    await session.send_message(CustomMessage(custom_type="stale", content="old news"))
    await session.send_message(CustomMessage(custom_type="news", content="new news"))
    script.turn(text("Arr."))
    await session.prompt("hello")
    request = script.requests[0]

    assert [message.text for message in request.messages] == ["new news", "hello"]
    assert request.context.system_prompt.endswith("Answer like a pirate.")


async def test_state_that_survives_forks_and_reloads(session_of, written, fake_ui, script):
    session = session_of(written(TODO), ui=fake_ui)
    await session.prompt("/todo buy milk")
    script.turn(text("Fine."))
    await session.prompt("hello")
    first_message = next(entry for entry in session.ctx.session.branch() if entry.type == "message")
    await session.prompt("/todo walk the dog")
    await session.fork(first_message.id)
    await session.prompt("/todo")
    await session.reload()
    await session.prompt("/todo")

    assert [notice.message for notice in fake_ui.notices] == [
        "buy milk",
        "buy milk\nwalk the dog",
        "buy milk",
        "buy milk",
    ]


async def test_a_sub_agent(session_of, written, script):
    session = session_of(written(HELPER))
    script.turn(tool_call("helper", task="Where is the cat?")).turn(text("On the sofa.")).turn(text("Sofa."))
    await session.prompt("find the cat")

    assert script.requests[1].messages[0].text == "Where is the cat?"
    assert script.requests[2].tool_results[0].text == "On the sofa."


async def test_a_vendor_that_speaks_a_known_api(session_of, script, tmp_path, monkeypatch):
    package = tmp_path / "pi_acme"
    package.mkdir()
    (package / "__init__.py").write_text(ACME)
    (package / "acme.json").write_text(json.dumps({"providers": {"acme": ACME_MODELS | {"api": script.model.api}}}))
    monkeypatch.syspath_prepend(tmp_path)
    session = session_of(importlib.import_module("pi_acme"), environ={"ACME_API_KEY": "k"})
    script.turn(text("I am large."))
    await session.set_model(session.models.find("acme/large"))
    answer = await session.prompt("who?")

    assert (answer.text, answer.model) == ("I am large.", "large")
    assert script.requests[0].model.compat == {"supportsStore": False}


async def test_a_policy(session_of, written, script):
    session = session_of(written(POLICY))
    script.turn(text("Hello.")).turn(text("Bye."))
    await session.prompt("hi")
    await session.compact()
    await session.prompt("bye")

    assert "It began with 'hi'." in script.requests[1].messages[0].text
    assert [message.text for message in script.requests[1].messages[1:]] == ["Hello.", "bye"]


async def test_a_front_end(session_of, written, script):
    module = written(MODE)
    session = session_of(module)
    script.turn(text("Hi.")).turn(text("See you."))
    mode = session.host.find("register_modes", "irc").thing
    code = await mode.run(session, None)

    assert code == 0
    assert module.said == ["Hi.", "See you."]
