"""Sessions that plugins create for tasks: stored, linked, announced, and paid for however they end."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from pi_core import SessionManager
from pi_core.wire import is_on_wire, to_wire
from pi_hookspecs import PiError, ToolContext, ToolResult, UsageEntry, hookimpl, tool
from pi_testing import stall, text, tool_call, until, usage

KINDS = ("child_session_start", "child_session_update", "child_session_end")


@tool(label="Ask an agent")
async def agent(how: str, ctx: ToolContext) -> ToolResult:
    """Give a task to an agent."""
    async with ctx.create_session(tools=[], persist=True, label="scout") as child:
        answer = await child.prompt("go")
        if how == "fails":
            raise RuntimeError("lost it")
        return ToolResult.text(answer.text, usage=child.usage if how == "pays" else None)


@pytest.fixture
def stored(tmp_path, installed_host):
    """A session that is stored, by the installed store."""
    return SessionManager.create(tmp_path, host=installed_host)


@pytest.fixture
def session(session_of, stored):
    return session_of(session_manager=stored, tools=[agent])


def usage_entries(session):
    return [entry for entry in session.ctx.session.entries() if isinstance(entry, UsageEntry)]


async def run(session, script, how):
    """Let the model call the tool once; the child's one answer costs 30 tokens."""
    script.turn(tool_call("agent", how=how), usage(input=1, output=1))
    script.turn(text("Found it."), usage(input=20, output=10))
    script.turn(text("Done."), usage(input=1, output=1))
    await session.prompt("begin")


async def test_a_stored_child_names_its_parent_and_its_call(session, script):
    await run(session, script, "pays")

    (child,) = session.children
    header, *entries = [json.loads(line) for line in Path(child.file).read_text().splitlines()]
    call = session.messages[1].tool_calls[0].id
    assert (child.label, child.parent_call, child.status) == ("scout", call, "done")
    assert (header["id"], header["parentSession"], header["parentCall"]) == (child.id, str(session.session_file), call)
    assert "Found it." in json.dumps(entries)


async def test_a_child_is_listed_with_its_label_and_its_parent(session, script):
    await run(session, script, "pays")

    listed = {each.name: each for each in await session.ctx.sessions.list()}
    assert listed["scout"].parent_session_path == str(session.session_file)


async def test_a_child_of_a_session_in_memory_is_in_memory(session_of, script):
    session = session_of(session_manager=SessionManager.in_memory(), tools=[agent])
    await run(session, script, "pays")

    assert session.children[0].file is None
    assert session.children[0].status == "done"


@pytest.mark.parametrize("name", ["label", "parent_call"])
async def test_a_label_that_is_no_text_is_refused_before_anything_is_stored(session, name):
    with pytest.raises(TypeError, match=f"create_session: {name} must be a string, not 5"):
        session.ctx.create_session(persist=True, **{name: 5})

    assert session.children == ()
    assert await session.ctx.sessions.list() == []


async def test_without_persist_a_child_is_in_memory(session):
    async with session.ctx.create_session() as child:
        assert child.session_file is None


async def test_persist_and_a_session_manager_exclude_each_other(session):
    with pytest.raises(PiError, match="not both"):
        session.ctx.create_session(persist=True, session_manager=SessionManager.in_memory())


async def test_subscribers_and_plugins_follow_a_child_from_start_to_end(session_of, stored, script, recorder):
    seen = []

    def note(event, ctx):
        seen.append((event.type, event.child.status, event.child.usage.total_tokens, ctx.session.id))

    class Plugin:
        @hookimpl
        def activate(self, pi):
            for kind in KINDS:
                pi.on(kind, note)

    session = session_of(Plugin(), session_manager=stored, tools=[agent])
    await run(session, script, "pays")

    assert seen == [
        ("child_session_start", "running", 0, session.session_id),
        ("child_session_update", "running", 30, session.session_id),
        ("child_session_end", "done", 30, session.session_id),
    ]
    lines = [to_wire(event) for event in recorder.events if event.type in KINDS and is_on_wire(event)]
    assert [(line["type"], line["child"]["status"]) for line in lines] == [
        ("child_session_start", "running"),
        ("child_session_update", "running"),
        ("child_session_end", "done"),
    ]
    assert {"id", "usage", "status"} <= set(lines[0]["child"])


@pytest.mark.parametrize(("how", "kept"), [("pays", 0), ("forgets", 1), ("fails", 1)])
async def test_a_childs_usage_counts_once_regardless_of_who_reports_it(session, script, how, kept):
    await run(session, script, how)

    assert len(usage_entries(session)) == kept
    assert session.get_session_stats().tokens.total == 34
    assert session.ctx.totals.total_tokens == 34


async def test_the_entry_of_a_failed_child_names_the_owner_of_its_usage(session, script):
    await run(session, script, "fails")

    (entry,) = usage_entries(session)
    assert (entry.kind, entry.usage.total_tokens) == ("agent:scout", 30)
    assert entry.extra == {"purpose": "agent:scout", "childSession": session.children[0].id}
    assert '"childSession"' in session.session_file.read_text()


async def test_an_aborted_childs_usage_is_kept(session, script, recorder):
    script.turn(tool_call("agent", how="pays"))
    script.turn(text("One moment."), tool_call("nothing"), usage(input=20, output=10))
    script.turn(text("Thinking"), stall())
    running = asyncio.create_task(session.prompt("begin"))
    await until(lambda: len(script.requests) == 3)
    await session.abort()
    await running

    assert session.children[0].status == "failed"
    assert session.get_session_stats().tokens.total >= 30


async def test_a_child_that_is_cancelled_while_it_ends_is_paid_for(session_of, stored, script):
    ending = asyncio.Event()

    class SlowEnd:
        @hookimpl
        async def session_shutdown(self, event, ctx):
            ending.set()
            await asyncio.sleep(0 if ctx.session.id == stored.id else 3600)

    session = session_of(SlowEnd(), session_manager=stored, tools=[agent])
    script.turn(text("Found it."), usage(input=20, output=10))

    async def work():
        async with session.ctx.create_session(label="scout") as child:
            await child.prompt("go")

    working = asyncio.create_task(work())
    await ending.wait()
    working.cancel()
    await asyncio.wait([working])

    assert working.cancelled()
    assert session.children[0].status == "done"
    assert [(entry.kind, entry.usage.total_tokens) for entry in usage_entries(session)] == [("agent:scout", 30)]


async def test_a_child_outside_a_tool_is_paid_for_when_it_ends(session, script):
    script.turn(text("Found it."), usage(input=20, output=10))
    async with session.ctx.create_session(label="scout") as child:
        await child.prompt("go")
        during = session.ctx.totals.total_tokens
        assert usage_entries(session) == []

    assert during == session.ctx.totals.total_tokens == 30
    assert [entry.kind for entry in usage_entries(session)] == ["agent:scout"]


async def test_a_session_that_ends_stops_its_children_and_keeps_what_they_used(session, script):
    script.turn(text("Hello.")).turn(text("Found it."), usage(input=20, output=10))
    await session.prompt("hi")
    child = session.ctx.create_session(label="scout")
    await child.prompt("go")
    await session.dispose()

    assert session.children[0].status == "done"
    assert '"agent:scout"' in session.session_file.read_text()


async def test_a_childs_own_children_are_part_of_its_usage(session, script):
    script.turn(text("Deep."), usage(input=20, output=10))
    async with (
        session.ctx.create_session(label="scout") as child,
        child.ctx.create_session(label="digger") as digger,
    ):
        await digger.prompt("go")

    assert session.children[0].usage.total_tokens == 30
    assert session.ctx.totals.total_tokens == 30


async def test_a_session_without_children_has_none(session):
    assert session.children == ()
    assert session.ctx.totals.total_tokens == 0
