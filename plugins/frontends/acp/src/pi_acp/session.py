"""One of an editor's sessions: runs its prompts in order and cancels them; holds its permissions and files."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from pi_acp.editor import EditorFiles, EditorTerminals, is_for_editor
from pi_acp.options import config_options
from pi_acp.peer import AUTH_REQUIRED, RpcError
from pi_acp.permissions import Permissions, mode_state
from pi_acp.prompt import read_prompt
from pi_acp.replay import replayed
from pi_acp.tool_calls import changed_line, diffs_of, path_of
from pi_acp.ui import AcpUI
from pi_acp.updates import Updates
from pi_core import error_text, print_warning
from pi_hookspecs import MissingKey, NoModel

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping
    from pathlib import Path

    from pi_acp.client import Client
    from pi_core import AgentSession, TokenTotals
    from pi_hookspecs import AbortSignal, AssistantMessage, ImageContent, ToolCallEvent

__all__ = ["EditorSession"]

_GRACE = 1.5
"""Seconds that a cancelled prompt has to settle before it is answered."""

_T = TypeVar("_T")

_CANCELLED = {"stopReason": "cancelled"}


class EditorSession:
    """A conversation with an editor.

    Args:
        client: The editor.
        cwd: Where tools work.
        folders: Further folders that belong to the session.
    """

    def __init__(self, client: Client, cwd: Path, folders: tuple[Path, ...]) -> None:
        self.client = client
        self.cwd = cwd
        self.updates = Updates(client, cwd)
        self.permissions = Permissions(client, cwd, folders)
        self.ui = AcpUI(client, self.updates.say, self._permit)
        self._folders = (cwd, *folders)
        self._for_editor: set[str] = set()
        self._turn = asyncio.Lock()
        self._stops: set[asyncio.Future[None]] = set()
        self._left: set[asyncio.Task[Any]] = set()
        self._session: AgentSession | None = None

    @property
    def session(self) -> AgentSession:
        """The underlying session; available after ``start``."""
        assert self._session is not None  # noqa: S101 - the agent makes and starts it before the editor knows its id
        return self._session

    async def start(self, session: AgentSession) -> None:
        """Start pi's session.

        Raises:
            PiError: It could not start.
        """
        self._session = session
        self.client.session_id = session.session_id
        self.updates.listen(session)
        session.subscribe(lambda _event: self._for_editor.clear(), "agent_settled")
        await session.start()
        for problem in session.problems():
            print_warning(problem)

    def state(self) -> dict[str, Any]:
        """Return the state that the editor displays: modes and options."""
        return {
            "modes": mode_state(self.permissions.mode),
            "configOptions": config_options(self.session, switches=self.client.can.has_switches),
        }

    def announce(self) -> None:
        """Send what follows the answer that names the session: commands and usage."""
        self._in_background(self._announce())

    async def _announce(self) -> None:
        await self.updates.commands()
        self.updates.usage()

    async def replay(self) -> None:
        """Send the conversation so far."""
        for update in replayed(self.session.session_manager, self.cwd):
            self.client.update(update.pop("sessionUpdate"), **update)
            await self.client.peer.writer.room()

    # Prompts

    async def prompt(self, blocks: Any, trace_context: Mapping[str, str]) -> dict[str, Any]:
        """Answer a prompt after all earlier ones.

        Args:
            blocks: Its content.
            trace_context: ``traceparent`` and ``tracestate`` of the editor's span.

        Raises:
            RpcError: The blocks cannot be read, there is no key, or the provider failed.
        """
        text, images = read_prompt(blocks, self.cwd)
        stop: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._stops.add(stop)
        work = self._in_background(self._answer(text, images, stop, trace_context))
        try:
            await asyncio.wait((work, stop), return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                await asyncio.wait([work], timeout=_GRACE)
            if not work.done():
                return _CANCELLED
            if stop.done():
                return _CANCELLED if work.exception() is not None else {**work.result(), **_CANCELLED}
            return work.result()
        except asyncio.CancelledError:
            self._stop(stop)
            self.session.request_abort("Cancelled in the editor")
            raise
        except (MissingKey, NoModel) as error:
            raise RpcError(AUTH_REQUIRED, f"Authentication required: {error}") from error
        finally:
            self._stops.discard(stop)
            self.updates.flush()

    async def _answer(
        self,
        text: str,
        images: tuple[ImageContent, ...],
        stop: asyncio.Future[None],
        trace_context: Mapping[str, str],
    ) -> dict[str, Any]:
        async with self._turn:
            if stop.done():
                return _CANCELLED
            session = self.session
            before = session.session_id, session.get_session_stats().tokens
            accepted: list[str] = []
            answer = await session.prompt(
                text,
                images=images,
                source="acp",
                streaming_behavior="followUp" if session.is_streaming else None,  # a plugin began a run by itself
                on_accepted=accepted.append,
                trace_context=trace_context,
            )
            await session.wait_for_idle()
            if accepted == ["queued"]:
                answer = session.last_answer()
            await self.updates.commands()
            ended = _outcome(answer)
            after = session.session_id, session.get_session_stats().tokens
            return {**ended, **_used(before, after)}

    def cancel(self) -> None:
        """Abort the current prompt and all waiting ones."""
        for stop in self._stops:
            self._stop(stop)
        self.session.request_abort("Cancelled in the editor")

    async def close(self) -> None:
        """Cancel everything and end the session."""
        self.cancel()
        await self.session.dispose()

    def _stop(self, stop: asyncio.Future[None]) -> None:
        if not stop.done():
            stop.set_result(None)

    def _in_background(self, work: Coroutine[Any, Any, _T]) -> asyncio.Task[_T]:
        task = asyncio.create_task(work)
        self._left.add(task)
        task.add_done_callback(self._on_done)
        return task

    def _on_done(self, task: asyncio.Task[Any]) -> None:
        self._left.discard(task)
        if not task.cancelled():
            task.exception()  # of a prompt that was answered before it settled

    # Tools

    async def _permit(self, event: ToolCallEvent, signal: AbortSignal | None) -> str | None:
        path, files = path_of(event.input, self.cwd), self._files_for(event.tool_name)
        if files is not None and path is not None and not await asyncio.to_thread(is_for_editor, path, self._folders):
            files = None
        shows_text = files is not None and event.tool_name != "read" and self.client.can.reads_files
        unsaved = await files.unsaved(str(path)) if files is not None and shows_text else None
        diffs = await asyncio.to_thread(diffs_of, event.tool_name, event.input, self.cwd, unsaved)
        reason = await self.permissions.refusal(event, diffs, signal)
        if reason is None:
            line = changed_line(event.tool_name, event.input, diffs)
            at = [{"path": str(path), "line": line}] if path is not None and line is not None else None
            self.updates.begun(event.tool_call_id, diffs, at)
            if files is not None:
                self._for_editor.add(event.tool_call_id)
        return reason

    def files_of(self, call_id: str, tool: str) -> EditorFiles | None:
        """Return the editor's files for a call; None if it should work on disk."""
        return self._files_for(tool) if call_id in self._for_editor else None

    def _files_for(self, tool: str) -> EditorFiles | None:
        """Return the editor's files if it can do what a tool needs."""
        can = self.client.can
        able = {"read": can.reads_files, "write": can.writes_files, "edit": can.reads_files and can.writes_files}
        return EditorFiles(self.client) if able.get(tool, False) else None

    def terminals(self, call_id: str) -> EditorTerminals | None:
        """Return the editor's terminals for a call, which displays them; None if it has none."""
        if not self.client.can.has_terminals:
            return None
        return EditorTerminals(self.client, partial(self.updates.embed, call_id))


def _outcome(answer: AssistantMessage | None) -> dict[str, Any]:
    """Return how a prompt ended.

    Raises:
        RpcError: The provider failed.
    """
    reason = "stop" if answer is None else answer.stop_reason
    if answer is not None and reason == "error":
        raise RpcError(-32603, error_text(answer.error_message or "The request to the model failed").sentences)
    if reason == "aborted":
        return _CANCELLED
    if answer is not None and answer.raw_stop_reason == "refusal":
        return {"stopReason": "refusal"}
    return {"stopReason": "max_tokens" if reason == "length" else "end_turn"}


def _used(before: tuple[str, TokenTotals], after: tuple[str, TokenTotals]) -> dict[str, Any]:
    """Return a prompt's usage; empty if it made no request, or opened another conversation."""
    (session, start), (session_now, end) = before, after
    if session_now != session or end.total == start.total:
        return {}
    usage = {
        "totalTokens": end.total - start.total,
        "inputTokens": end.input - start.input,
        "outputTokens": end.output - start.output,
        "cachedReadTokens": end.cache_read - start.cache_read,
        "cachedWriteTokens": end.cache_write - start.cache_write,
    }
    return {"usage": usage}
