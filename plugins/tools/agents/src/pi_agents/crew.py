"""The agents of one session: starts, queues and stops them, and keeps their records."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from pi_agents.kind import KIND
from pi_agents.member import ENTRY, Member, stored_record
from pi_agents.roster import roster
from pi_agents.settings import max_parallel
from pi_hookspecs import (
    Activity,
    ActivityItem,
    CustomEntry,
    CustomMessage,
    PiError,
    ToolResult,
    ToolResultMessage,
    UnknownName,
    UserError,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pi_hookspecs import PiAPI, PiContext, ToolContext

__all__ = ["Crew"]

_ENDS = {"done": "is done", "failed": "has failed", "stopped": "was stopped"}
_SESSION_ENDED = "The session ended"
_DESCRIPTION = 60
"""Maximum characters of a description that is derived from the prompt."""


class Crew:
    """The agents of a session.

    Args:
        pi: The ``pi`` object of the session.
    """

    def __init__(self, pi: PiAPI) -> None:
        self.pi = pi
        self.members: dict[str, Member] = {}
        self._working = 0
        self._changed = asyncio.Condition()
        self._tasks: set[asyncio.Task[None]] = set()
        self._displayed: Activity | None = None

    def known_tools(self) -> list[str]:
        """Return the names of all tools of the session."""
        return [each.name for each in self.pi.get_all_tools()]

    def get(self, member_id: str) -> Member:
        """Return an agent by its id.

        Raises:
            UserError: There is no agent with this id.
        """
        found = self.members.get(member_id)
        if found is None:
            raise UserError(str(UnknownName("agent id", member_id, list(self.members), "/agents lists them")))
        return found

    def records(self, ctx: PiContext) -> list[dict[str, Any]]:
        """Return the records of all agents of the conversation, including those of earlier runs of the program."""
        entries = (each for each in ctx.session.branch() if isinstance(each, CustomEntry))
        past = (stored_record(each.data) for each in entries if each.custom_type == ENTRY)
        known = {record["id"]: record for record in past if record is not None}
        return list({**known, **{each.id: each.record() for each in self.members.values()}}.values())

    # The tools' actions

    async def start(
        self,
        ctx: ToolContext,
        *,
        prompt: str,
        description: str | None = None,
        agent: str | None = None,
        isolation: str | None = None,
        background: bool | None = None,
    ) -> ToolResult:
        """Start an agent; return its result, or, if it runs in the background, instructions for getting it later.

        Raises:
            UserError: There is no such agent, or it cannot run with the configuration in its file.
        """
        if not prompt.strip():
            raise UserError("prompt is empty: the agent knows nothing but its prompt")
        found = (await roster(ctx, self.known_tools())).get(agent)
        member = Member(
            found,
            prompt,
            " ".join(description.split()) if description else " ".join(prompt.split())[:_DESCRIPTION],
            isolation or found.data.get("isolation", "none"),
            found.data.get("background", False) if background is None else background,
        )
        if member.background and member.isolation == "worktree":
            from pi_agents.kept import repository
            from pi_git_kit import ask_plugins

            # The reason for a refusal is the result of this call.
            await asyncio.to_thread(repository, ctx.cwd, ask_plugins(ctx))
        self.members[member.id] = member
        member.on_progress = partial(self.show, ctx)
        if not member.background:
            try:
                return await self._work(member, ctx)
            finally:
                self.show(ctx)
        task = asyncio.create_task(self._work_in_background(member, ctx))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        how = "" if ctx.has_ui else " This run ends with your last answer, and stops it: wait for it before."
        return ToolResult.text(
            f"The agent works in the background; task_output gets its result.{how}\n\n[agent {member.id}, running]",
            details=member.record(),
        )

    async def output(self, ctx: ToolContext, member_id: str, *, wait: bool = False) -> ToolResult:
        """Return an agent's result, or its state.

        Raises:
            UserError: There is no such agent.
        """
        member = self.members.get(member_id)
        if member is None:
            return await self._earlier(ctx, member_id)
        if wait and member.is_active:
            ending = asyncio.ensure_future(member.ended.wait())
            aborted = asyncio.ensure_future(ctx.signal.wait())
            try:
                await asyncio.wait({ending, aborted}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                ending.cancel()
                aborted.cancel()
        if member.result is not None:
            return member.result
        return ToolResult.text(f"The agent is not done: {member.summary()}", details=member.record())

    async def stop(self, member_id: str, why: str = "It was stopped by task_stop") -> ToolResult:
        """Stop an agent; return its result so far.

        Raises:
            UserError: There is no such agent.
        """
        member = self.get(member_id)
        if not member.is_active:
            return ToolResult.text(f"The agent had ended before: {member.summary()}", details=member.record())
        member.stop(why)
        await member.ended.wait()
        return ToolResult.text(f"Stopped. {member.last_line()}", details=member.record())

    # Stopping

    def stop_all(self, why: str) -> None:
        """Stop every agent."""
        for member in self.members.values():
            member.stop(why)

    async def close(self) -> None:
        """Stop every agent, and wait until all have ended."""
        self.stop_all(_SESSION_ENDED)
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # One agent

    async def _work(self, member: Member, ctx: ToolContext) -> ToolResult:
        """Run an agent as soon as there is a free slot; if it cannot run, the reason becomes its result."""
        from pi_agents.work import work

        self.show(ctx)
        ctx.signal.on_abort(lambda: member.stop(ctx.signal.reason or "The user aborted"))
        try:
            async with self._place(member, max_parallel(ctx.settings)):
                member.result = await work(self, member, ctx)
        except (PiError, OSError) as error:
            member.state = "stopped" if member.stopping.is_set() else "failed"
            text = f"{error}\n\n{member.last_line()}"
            member.result = ToolResult.text(text, details=member.record(), is_error=True)
        except BaseException:
            member.state = "stopped"  # by a cancellation
            raise
        finally:
            member.ended.set()
            self.pi.append_entry(ENTRY, member.record())
        if not member.background:
            self._keep(member.result, member, ctx.call_id)
        return member.result

    def _keep(self, result: ToolResult, member: Member, call_id: str) -> None:
        """Store a result and its cost while other calls still run: if pi is killed, a resumed session has them."""
        from pi_core import to_wire

        message = ToolResultMessage(
            tool_call_id=call_id,
            tool_name="task",
            content=result.content,
            details=result.details,
            is_error=result.is_error,
            usage=member.usage,
        )
        self.pi.append_entry("finished_call", to_wire(message))

    @asynccontextmanager
    async def _place(self, member: Member, places: int) -> AsyncIterator[None]:
        """Wait for a free slot; return at once if the agent is stopped meanwhile."""

        async def wake() -> None:
            await member.stopping.wait()
            async with self._changed:
                self._changed.notify_all()

        waking = asyncio.create_task(wake())
        try:
            async with self._changed:
                await self._changed.wait_for(lambda: self._working < places or member.stopping.is_set())
                self._working += 1
        finally:
            waking.cancel()
        try:
            yield
        finally:
            async with self._changed:
                self._working -= 1
                self._changed.notify_all()

    async def _work_in_background(self, member: Member, ctx: ToolContext) -> None:
        try:
            await self._work(member, ctx)
        finally:
            self.show(ctx)
        if member.why == _SESSION_ENDED:
            name = f"{member.id} ({member.name}: {member.description})"
            ctx.ui.notify(f"The agent {name} was still working and was stopped, because the session ended.", "warning")
            return
        text = f"The agent {member.id} ({member.name}: {member.description}) {_ENDS.get(member.state, 'ended')}."
        ctx.ui.notify(text, "info" if member.state == "done" else "warning")
        notice = CustomMessage(custom_type=KIND, content=f"{text} task_output returns its result.", display=False)
        self.pi.send_message(notice)

    def show(self, ctx: PiContext) -> None:
        """Display the agents that work, with what they cost so far."""
        active = [each for each in self.members.values() if each.is_active]
        items = [
            ActivityItem(each.summary(), open=f"/agents open {each.id}", stop=f"/agents stop {each.id}")
            for each in active
        ]
        label = f"{len(active)} {'agent' if len(active) == 1 else 'agents'} working"
        activity = Activity(label, items=items) if active else None
        if activity != self._displayed:
            self._displayed = activity
            ctx.ui.set_activity("agents", activity)

    async def _earlier(self, ctx: ToolContext, member_id: str) -> ToolResult:
        """Return the last answer of an agent of an earlier run of the program, from its session."""
        record = next((each for each in self.records(ctx) if each["id"] == member_id), None)
        if record is None or not record.get("session"):
            self.get(member_id)
            raise UserError(f"The agent {member_id} left no session")
        from pi_agents.result import last_text

        text = last_text((await ctx.sessions.open(record["session"])).branch())
        return ToolResult.text(text or "It gave no answer.", details=record)
