"""``deps``: an object of the program reaches its tools and plugins, and nothing else."""

from __future__ import annotations

import attrs

from pi_core.wire import dumps
from pi_hookspecs import ToolContext, ToolResult, hookimpl, tool
from pi_testing import text, tool_call


@attrs.define
class Library:
    books: list[str]


@tool
async def count_books(ctx: ToolContext[Library]) -> str:
    """Count the books."""
    return f"{len(ctx.deps.books)} books"


async def test_a_tool_reads_them(session_of, script):
    session = session_of(tools=[count_books], deps=Library(["Odes", "Sonnets"]))
    script.turn(tool_call("count_books")).turn(text("Two."))

    await session.prompt("How many books?")

    assert script.requests[-1].tool_results[0].text == "2 books"


async def test_hooks_read_them(session_of, script):
    seen = []

    class Plugin:
        @hookimpl
        def agent_start(self, event, ctx):
            seen.append(ctx.deps)

    library = Library([])
    session = session_of(Plugin(), deps=library)
    script.turn(text("Hi."))
    await session.prompt("Hello")

    assert seen == [library]
    assert seen[0] is library


async def test_a_program_may_replace_them_between_prompts(session_of, script):
    session = session_of(tools=[count_books], deps=Library([]))
    session.deps = Library(["Odes"])
    script.turn(tool_call("count_books")).turn(text("One."))

    await session.prompt("How many books?")

    assert script.requests[-1].tool_results[0].text == "1 books"


async def test_a_program_that_gives_nothing_gives_none(session_of):
    assert session_of().ctx.deps is None


async def test_a_helper_has_its_parents(session_of, script):
    @tool
    async def helper(ctx: ToolContext) -> ToolResult:
        """Ask a helper."""
        async with ctx.create_session(tools=["count_books"], custom_tools=[count_books]) as session:
            return ToolResult.text((await session.prompt("How many?")).text)

    session = session_of(tools=[helper], deps=Library(["Odes"]))
    script.turn(tool_call("helper")).turn(tool_call("count_books")).turn(text("One.")).turn(text("Done."))

    await session.prompt("Ask")

    assert script.requests[2].tool_results[0].text == "1 books"


async def test_they_reach_neither_events_nor_entries_nor_the_model(session_of, script, recorder):
    session = session_of(tools=[count_books], deps=Library(["SECRET"]))
    script.turn(tool_call("count_books")).turn(text("One."))

    await session.prompt("How many books?")

    assert b"SECRET" not in b"".join(dumps(event) for event in recorder.events)
    assert b"SECRET" not in b"".join(dumps(entry) for entry in session.session_manager.get_branch())
    assert "SECRET" not in repr(script.requests[0])
