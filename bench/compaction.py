"""What compaction costs when nothing is to be done, and when something is: ``uv run python bench/compaction.py``.

Deciding is timed at the boundary between turns, in a session that is far from full; the bar is 50 us, whatever the
length of the conversation and whether or not the provider counts tokens. Preparing is everything before the model is
asked; the bar is 100 ms for 10,000 messages.
"""

from __future__ import annotations

import asyncio
import tempfile
from typing import TYPE_CHECKING, Any

from _measure import cpu_per_step, show

import pi_compaction
from pi_compaction.services import Summaries
from pi_compaction.triggers import Triggers
from pi_core import PluginHost, SessionManager, Settings, create_agent_session
from pi_hookspecs import (
    AbortSignal,
    AssistantMessage,
    CompactionRequest,
    Model,
    TextContent,
    ToolCall,
    ToolResultMessage,
    TurnEndEvent,
    Usage,
    UserMessage,
)

if TYPE_CHECKING:
    from pi_core import AgentSession

MODEL = Model(id="bench", name="Bench", api="bench", provider="bench", context_window=100_000_000)
USAGE = Usage(input=1_000, output=100, total_tokens=1_100)


def session_of(messages: int, *, counts: bool = True) -> AgentSession:
    """Make a session of calls of tools and their results, a message of the user each hundred."""
    manager = SessionManager.in_memory()
    for number in range(messages // 2):
        if number % 50 == 0:
            manager.append_message(UserMessage(content=f"Prompt {number}."))
        call = ToolCall(id=f"call_{number}", name="edit", arguments={"path": f"src/{number % 100}.py", "edits": ["x"]})
        usage = USAGE if counts else Usage()
        answer = AssistantMessage(
            api="bench", provider="bench", model="bench", content=(TextContent("Now this."), call), usage=usage
        )
        result = ToolResultMessage(
            tool_call_id=call.id, tool_name="edit", content=(TextContent("a line of output\n" * 20),)
        )
        manager.append_message(answer)
        manager.append_message(result)
    settings = Settings.in_memory({}, agent_dir=tempfile.gettempdir())
    host = PluginHost(settings, installed=False)
    return create_agent_session(
        settings=settings, host=host, plugins={"compaction": pi_compaction}, model=MODEL, session_manager=manager
    )


def decide(messages: int, *, counts: bool = True) -> float:
    session, triggers = session_of(messages, counts=counts), Triggers()
    answer = next(each for each in reversed(session.messages) if isinstance(each, AssistantMessage))
    event: Any = TurnEndEvent(message=answer, tool_results=(session.messages[-1],))
    asyncio.run(triggers.between_turns(event, session.ctx))  # the first estimate looks at everything

    async def work(turns: int) -> None:
        for _ in range(turns):
            await triggers.between_turns(event, session.ctx)

    return cpu_per_step(work, 2_000, rounds=3)


def prepare(messages: int) -> float:
    session = session_of(messages)
    entries = tuple(session.session_manager.get_branch())
    request = CompactionRequest(reason="threshold", entries=entries, custom_instructions=None, signal=AbortSignal())

    async def work(rounds: int) -> None:
        for _ in range(rounds):
            assert Summaries().prepare(request, session.ctx) is not None

    return cpu_per_step(work, 5, rounds=3) / 1000


def main() -> None:
    sizes = (100, 10_000, 100_000)
    rows: list[tuple[str, float, float | None]] = [(f"{size:,} messages", decide(size), 50.0) for size in sizes]
    rows += [(f"{size:,} messages, usage missing", decide(size, counts=False), 50.0) for size in sizes]
    show("Deciding that nothing is to be done, CPU per turn", "us", rows)
    show("Preparing a compaction", "ms", [(f"{size:,} messages", prepare(size), bar) for size, bar in _PREPARED])


_PREPARED: list[tuple[int, float | None]] = [(1_000, None), (10_000, 100.0)]


if __name__ == "__main__":
    main()
