"""Commands that the user runs with ``!``: asked about, run by the installed runner, told to the model in good time.

What a command printed becomes part of the conversation. While an answer is being made it waits until that is done, so
that no tool call is parted from its result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve

import pi_hookspecs  # as in compaction.py
from pi_core.conversation.blaming import blaming
from pi_hookspecs import AbortController, BashExecutionMessage, UserError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_core.conversation.session import AgentSession
    from pi_hookspecs import CommandRequest, UserBashResult

__all__ = ["UserBash"]

NO_RUNNER = (
    "No plugin of this session can run commands. The plugin 'tools' does (pip install pluggypi-tools); where plugins"
    " are chosen by name, add it."
)


class UserBash:
    """Runs a session's user's commands.

    Args:
        session: Whose.
    """

    def __init__(self, session: AgentSession) -> None:
        self._session = session
        self._running: set[AbortController] = set()
        self._deferred: list[BashExecutionMessage] = []

    @property
    def is_running(self) -> bool:
        """Whether a command is running."""
        return bool(self._running)

    def abort(self) -> None:
        """Stop the commands that are running."""
        for each in tuple(self._running):
            each.abort("Command cancelled")

    async def execute(
        self,
        command: str,
        on_output: Callable[[str], object] | None,
        *,
        exclude_from_context: bool,
        operations: Any,
        id: str | None,  # noqa: A002 - the wire's name
    ) -> BashExecutionMessage:
        """Run a command; see ``AgentSession.execute_bash``."""
        abort = AbortController()
        self._running.add(abort)
        try:
            request = pi_hookspecs.CommandRequest(
                command=command,
                cwd=str(self._session.cwd),
                signal=abort.signal,
                on_output=self._teller(on_output, id),
                exclude_from_context=exclude_from_context,
                operations=operations,
            )
            result = await self._run(request)
        finally:
            self._running.discard(abort)
        self.record(evolve(result, exclude_from_context=exclude_from_context or None))
        return result

    def record(self, message: BashExecutionMessage) -> None:
        """Make a command's result part of the conversation: now, or when the answer that is being made is done."""
        if self._session.is_streaming:
            self._deferred.append(message)
        else:
            self._keep(message)

    def keep_deferred(self) -> None:
        """Make the results that waited part of the conversation."""
        deferred, self._deferred = self._deferred, []
        for message in deferred:
            self._keep(message)

    def _keep(self, message: BashExecutionMessage) -> None:
        self._session.agent.append_message(message)
        self._session.session_manager.append_message(message)

    async def _run(self, request: CommandRequest) -> BashExecutionMessage:
        answer = await self._asked(request)
        if answer is not None and answer.result is not None:
            return answer.result
        found = self._session.host.find("register_services", "CommandRunner")
        if found is None:
            raise UserError(NO_RUNNER)
        if answer is not None and answer.operations is not None:
            request = evolve(request, operations=answer.operations)
        with blaming(self._session, found.plugin, "CommandRunner.run_command", "run a command"):
            result: BashExecutionMessage = await found.thing.run_command(request, self._session.ctx)
        return result

    async def _asked(self, request: CommandRequest) -> UserBashResult | None:
        """Ask plugins whether it may run; one that fails refuses."""
        session = self._session
        if not session.hooks.listens("user_bash"):
            return None
        from pi_hookspecs.specs import tools as tool_specs

        event = pi_hookspecs.UserBashEvent(
            command=request.command, exclude_from_context=request.exclude_from_context, cwd=request.cwd
        )
        answer: UserBashResult | None = await session.hooks.call(tool_specs.user_bash, event, session.ctx)
        return answer

    def _teller(self, on_output: Callable[[str], object] | None, command_id: str | None) -> Callable[[str], None]:
        def tell(delta: str) -> None:
            if on_output is not None:
                on_output(delta)
            self._session.listeners.emit_nowait(pi_hookspecs.BashExecutionUpdateEvent(delta=delta, id=command_id))

        return tell
