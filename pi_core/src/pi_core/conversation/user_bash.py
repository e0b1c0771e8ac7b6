"""Runs commands of the user (``!``): calls the hook, uses the installed runner, and adds results to the conversation.

The output of a command becomes part of the conversation. During an answer it is deferred until the answer is complete,
so that no tool call is separated from its result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve

import pi_hookspecs  # as in compaction.py
from pi_core.agent.safe_text import checked_answer
from pi_core.conversation.plugin_errors import plugin_errors
from pi_hookspecs import AbortController, BashExecutionMessage, UserError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_core.conversation.runtime import Runtime
    from pi_hookspecs import CommandRequest, UserBashResult

__all__ = ["UserBash"]

NO_RUNNER = "No plugin in this session can run commands."


class UserBash:
    """Runs the commands of a session's user.

    Args:
        runtime: The objects that all parts share.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._running: set[AbortController] = set()

    @property
    def is_running(self) -> bool:
        """Whether a command is running."""
        return bool(self._running)

    def abort(self) -> None:
        """Stop the running commands."""
        for each in tuple(self._running):
            each.abort("Command cancelled")

    async def execute(
        self,
        command: str,
        on_output: Callable[[str], object] | None = None,
        *,
        exclude_from_context: bool = False,
        operations: Any = None,
        id: str | None = None,  # noqa: A002 - the wire's name
    ) -> BashExecutionMessage:
        """Run a command of the user; see ``AgentSession.execute_bash``."""
        abort = AbortController()
        self._running.add(abort)
        try:
            request = pi_hookspecs.CommandRequest(
                command=command,
                cwd=str(self._runtime.cwd),
                signal=abort.signal,
                on_output=self._emitter(on_output, id),
                exclude_from_context=exclude_from_context,
                operations=operations,
            )
            result = await self._run(request)
        finally:
            self._running.discard(abort)
        self.record(evolve(result, exclude_from_context=exclude_from_context or None))
        return result

    def record(self, message: BashExecutionMessage) -> None:
        """Add a command's result to the conversation now, or after the current answer."""
        if self._runtime.is_streaming:
            self._runtime.transcript.defer(message)
        else:
            self._runtime.transcript.keep(message)

    async def _run(self, request: CommandRequest) -> BashExecutionMessage:
        answer = await self._asked(request)
        if answer is not None and answer.result is not None:
            return answer.result
        found = self._runtime.host.find("register_services", "CommandRunner")
        if found is None:
            from pi_core.host.advice import plugin_for

            raise UserError(f"{NO_RUNNER} {plugin_for('CommandRunner')}")
        if answer is not None and answer.operations is not None:
            request = evolve(request, operations=answer.operations)
        with plugin_errors(self._runtime, found.plugin, "CommandRunner.run_command", "run a command"):
            answered = await found.thing.run_command(request, self._runtime.ctx)
            result: BashExecutionMessage = checked_answer(answered, pi_hookspecs.BashExecutionMessage)
        return result

    async def _asked(self, request: CommandRequest) -> UserBashResult | None:
        """Call the hook that may refuse the command; a failing plugin refuses it."""
        runtime = self._runtime
        if not runtime.hooks.listens("user_bash"):
            return None
        from pi_hookspecs.specs import tools as tool_specs

        event = pi_hookspecs.UserBashEvent(
            command=request.command, exclude_from_context=request.exclude_from_context, cwd=request.cwd
        )
        answer: UserBashResult | None = await runtime.hooks.call(tool_specs.user_bash, event, runtime.ctx)
        return answer

    def _emitter(self, on_output: Callable[[str], object] | None, command_id: str | None) -> Callable[[str], None]:
        def emit(delta: str) -> None:
            if on_output is not None:
                on_output(delta)
            self._runtime.events.emit_nowait(pi_hookspecs.BashExecutionUpdateEvent(delta=delta, id=command_id))

        return emit
