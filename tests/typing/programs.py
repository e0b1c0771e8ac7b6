"""What programs write with the SDK passes mypy --strict with the right types. Checked, never run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_type

from attrs import frozen

import pi_core
from pi_core import Answer, UsageLimits, create_agent_session
from pi_hookspecs import ToolContext, tool

if TYPE_CHECKING:
    from pi_core import AgentSession


@frozen
class Library:
    """What the tools of a program read."""

    books: tuple[str, ...]


@tool
async def count_books(ctx: ToolContext[Library]) -> str:
    """Count the books."""
    assert_type(ctx.deps, Library)
    return str(len(ctx.deps.books))


@tool
async def untyped(ctx: ToolContext) -> str:
    """Read what the program gave, of any type."""
    assert_type(ctx.deps, Any)
    return str(ctx.deps)


async def outputs_have_their_types(session: AgentSession) -> None:
    assert_type(await session.ask("hi", limits=UsageLimits(requests=3)), Answer[str])
    assert_type((await session.ask("hi", output_type=Library)).output, Library)
    assert_type((await session.ask("hi", output_type=list[int])).output, list[int])
    assert_type((await session.ask("hi", output_type={"type": "object"})).output, Any)
    assert_type((await pi_core.arun("hi", output_type=int)).output, int)
    assert_type(pi_core.run("hi", model="offline/rules"), Answer[str])
    answer: str = pi_core.run("hi")
    del answer


async def a_stream_is_iterated() -> None:
    async with create_agent_session(deps=Library(())) as session:
        async for event in session.stream("hi", limits=UsageLimits(cost=0.5)):
            str(event.type)
