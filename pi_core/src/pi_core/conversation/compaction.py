"""Compacts a session: calls plugins and emits events; nothing changes unless every step succeeds.

The installed ``Compactor`` decides what is summarized and how; the caller of ``ctx.compact`` decides when.
"""

from __future__ import annotations

import asyncio
import inspect
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

from attrs import evolve

import pi_hookspecs  # events are loaded on first use, because most runs use none of them
from pi_core.agent.cancel import Grace
from pi_core.agent.safe_text import checked_answer, exception_message, safe_repr
from pi_core.conversation.plugin_errors import plugin_errors
from pi_hookspecs import ABORT_GRACE, AbortController, Aborted, PiError, UserError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_core.conversation.lifecycle import Lifecycle
    from pi_core.conversation.runtime import Runtime
    from pi_core.conversation.side_requests import SideRequests
    from pi_core.host.registry import Registered
    from pi_hookspecs import (
        AbortSignal,
        Compaction,
        CompactionEntry,
        CompactionPreparation,
        CompactionReason,
        CompactionRequest,
        SessionBeforeCompactResult,
    )

__all__ = ["CompactionRunner"]

CANCELLED = "Compaction cancelled"
ALREADY_COMPACTED = "Already compacted"
NOTHING_TO_COMPACT = "Nothing to compact (session too small)"
NO_COMPACTOR = "No plugin in this session can compact the conversation."


class _NothingToDo(UserError):
    """There is nothing to compact; an error only for a manual compaction."""


class CompactionRunner:
    """Compacts a conversation, one compaction at a time.

    Args:
        runtime: The objects that all parts share.
        requests: Makes the requests for summaries, and accounts for their tokens.
        lifecycle: Starts the session, and aborts a run.

    Attributes:
        enabled: Whether compactions other than manual ones are allowed.
    """

    def __init__(self, runtime: Runtime, requests: SideRequests, lifecycle: Lifecycle) -> None:
        self._runtime = runtime
        self._requests = requests
        self._lifecycle = lifecycle
        self._lock = asyncio.Lock()
        self._task: asyncio.Task[object] | None = None
        self._controllers: set[AbortController] = set()
        self.enabled = True

    @property
    def is_running(self) -> bool:
        """Whether a compaction is running."""
        return self._task is not None

    def abort(self, reason: str = CANCELLED) -> None:
        """Abort the running compaction and all that wait for it; the session is not changed."""
        for each in tuple(self._controllers):
            each.abort(reason)

    async def finished(self) -> None:
        """Wait until no compaction is running; return at once inside a compaction, which would wait for itself."""
        if self._task is not asyncio.current_task():
            async with self._lock:
                pass

    def set_enabled(self, enabled: bool) -> None:  # noqa: FBT001 - the contract's shape
        """Allow or forbid compactions other than manual ones in this session."""
        self.enabled = enabled

    async def compact_now(self, custom_instructions: str | None = None) -> Compaction:
        """Compact the conversation after aborting a running prompt; see ``AgentSession.compact``."""
        compaction = await self.compact(custom_instructions)
        assert compaction is not None  # noqa: S101 - only others return None
        return compaction

    async def compact(
        self, custom_instructions: str | None = None, *, reason: CompactionReason = "manual", will_retry: bool = False
    ) -> Compaction | None:
        """See ``PiContext.compact``. A manual compaction first aborts the run, unless the run's own task calls this."""
        await self._lifecycle.start()
        if reason == "manual" and self._runtime.is_streaming and not self._runtime.gate.is_inside():
            await self._lifecycle.abort("Compacting")
        if self._task is asyncio.current_task():
            raise PiError("A compaction is already in progress; a hook that it calls cannot start another.")
        if reason != "manual" and not self.enabled:
            return None
        with self._abort_signal() as signal:
            async with self._lock:
                signal.raise_if_aborted()
                if reason != "manual" and self._is_compacted():
                    return None
                self._task = asyncio.current_task()
                try:
                    return await self._emit_around(custom_instructions, reason, signal, will_retry=will_retry)
                finally:
                    self._task = None

    @contextmanager
    def _abort_signal(self) -> Iterator[AbortSignal]:
        """Yield the abort signal of a compaction; an abort of the surrounding run also aborts the compaction."""
        controller, running = AbortController(), self._runtime.signal
        self._controllers.add(controller)
        unsubscribe = running.on_abort(lambda: controller.abort(CANCELLED)) if running is not None else None
        try:
            yield controller.signal
        finally:
            self._controllers.discard(controller)
            if unsubscribe is not None:
                unsubscribe()

    async def _emit_around(
        self, custom_instructions: str | None, reason: CompactionReason, signal: AbortSignal, *, will_retry: bool
    ) -> Compaction | None:
        runtime = self._runtime
        request = pi_hookspecs.CompactionRequest(
            reason=reason,
            entries=runtime.manager.get_branch(records=False),
            custom_instructions=custom_instructions,
            signal=signal,
            will_retry=will_retry,
        )
        await runtime.emit(pi_hookspecs.CompactionStartEvent(reason=reason))
        try:
            compaction = await self._compact(request)
        except BaseException as error:
            await self._emit_failure(request, error)
            if signal.aborted and isinstance(error, Exception):  # whatever the plugin raised after the abort
                raise Aborted(CANCELLED) from error
            if isinstance(error, _NothingToDo) and reason != "manual":
                return None
            raise
        self._requests.account_for_summaries(carried=compaction.usage is not None)
        await runtime.emit(pi_hookspecs.CompactionEndEvent(reason=reason, result=compaction, will_retry=will_retry))
        return compaction

    async def _emit_failure(self, request: CompactionRequest, error: BaseException) -> None:
        runtime = self._runtime
        self._requests.account_for_summaries(carried=False)
        aborted = request.signal.aborted or isinstance(error, Aborted | asyncio.CancelledError)
        quiet = aborted or (isinstance(error, _NothingToDo) and request.reason != "manual")
        message = None if quiet else f"Compaction failed: {exception_message(error)}"
        failed = pi_hookspecs.SessionCompactFailedEvent(reason=request.reason, error_message=message, aborted=aborted)
        await runtime.hooks.notify(failed, runtime.ctx)
        await runtime.emit(
            pi_hookspecs.CompactionEndEvent(reason=request.reason, aborted=aborted, error_message=message)
        )

    async def _compact(self, request: CompactionRequest) -> Compaction:
        """Create the compaction and append it to the session."""
        if self._is_compacted():
            raise _NothingToDo(ALREADY_COMPACTED)
        if not request.entries:
            raise _NothingToDo(NOTHING_TO_COMPACT)
        compactor = self._runtime.host.find("register_services", "Compactor")
        if compactor is None:
            from pi_core.host.advice import plugin_for

            raise UserError(f"{NO_COMPACTOR} {plugin_for('Compactor')}")
        with Grace(request.signal, ABORT_GRACE):
            request = evolve(request, preparation=await self._prepare(compactor, request))
            answer = await self._call_hook(request)
            supplied = answer.compaction if answer is not None else None
            compaction = supplied or await self._run_compactor(compactor, request)
        if request.signal.aborted:
            raise Aborted(CANCELLED)
        entry = self._append(compaction, from_hook=supplied is not None)
        if compaction.estimated_tokens_after is None:
            compaction = evolve(compaction, estimated_tokens_after=self._estimated_tokens())
        event = pi_hookspecs.SessionCompactEvent(
            compaction_entry=entry,
            from_extension=supplied is not None,
            reason=request.reason,
            will_retry=request.will_retry,
        )
        await self._runtime.hooks.notify(event, self._runtime.ctx)
        if request.will_retry:
            self._runtime.transcript.drop_failed_answer()
        return compaction

    async def _prepare(self, compactor: Registered, request: CompactionRequest) -> CompactionPreparation:
        prepare = getattr(compactor.thing, "prepare", None)
        if prepare is None:
            return pi_hookspecs.CompactionPreparation(
                first_kept_entry_id=request.entries[-1].id, entries_to_summarize=tuple(request.entries)
            )
        with plugin_errors(self._runtime, compactor.plugin, "Compactor.prepare", "prepare a compaction"):
            prepared = prepare(request, self._runtime.ctx)
            answer = await prepared if inspect.isawaitable(prepared) else prepared
            preparation: CompactionPreparation | None = checked_answer(
                answer, pi_hookspecs.CompactionPreparation, type(None)
            )
        if preparation is None:
            raise _NothingToDo(NOTHING_TO_COMPACT)
        return preparation

    async def _call_hook(self, request: CompactionRequest) -> SessionBeforeCompactResult | None:
        """Call the plugins, which may cancel or supply the compaction."""
        runtime = self._runtime
        if not runtime.hooks.listens("session_before_compact") or request.preparation is None:
            return None
        event = pi_hookspecs.SessionBeforeCompactEvent(
            preparation=request.preparation,
            branch_entries=request.entries,
            custom_instructions=request.custom_instructions,
            signal=request.signal,
            reason=request.reason,
            will_retry=request.will_retry,
        )
        from pi_hookspecs.specs import session as session_specs

        answer: SessionBeforeCompactResult | None = await runtime.hooks.call(
            session_specs.session_before_compact, event, runtime.ctx
        )
        if answer is not None and answer.cancel:
            raise Aborted(CANCELLED)
        return answer

    async def _run_compactor(self, compactor: Registered, request: CompactionRequest) -> Compaction:
        with plugin_errors(self._runtime, compactor.plugin, "Compactor.compact", "compact"):
            answer = await compactor.thing.compact(request, self._runtime.ctx)
            compaction: Compaction | None = checked_answer(
                answer, pi_hookspecs.Compaction, type(None), check=_compaction_problem
            )
        if compaction is None:
            raise _NothingToDo(NOTHING_TO_COMPACT)
        return compaction

    def _append(self, compaction: Compaction, *, from_hook: bool) -> CompactionEntry:
        """Append the entry; the model's next request contains the remaining messages."""
        manager = self._runtime.manager
        if not compaction.summary.strip():
            raise PiError("The summary is empty; nothing was compacted. Try again, or give other instructions.")
        if manager.get_entry(compaction.first_kept_entry_id) is None:
            raise PiError(
                f"The compaction keeps everything from entry {compaction.first_kept_entry_id!r} on, but the session "
                f"has no such entry; nothing was compacted."
            )
        entry_id = manager.append_compaction(
            compaction.summary,
            compaction.first_kept_entry_id,
            compaction.tokens_before,
            compaction.details,
            from_hook=from_hook or None,
            usage=compaction.usage,
        )
        self._runtime.transcript.take_branch()
        return cast("CompactionEntry", manager.get_entry(entry_id))

    def _estimated_tokens(self) -> int:
        from pi_core.models.token_estimate import estimate_request_tokens, estimate_tokens

        state = self._runtime.agent.state
        return estimate_request_tokens(state.system_prompt, state.tools, sum(map(estimate_tokens, state.messages)))

    def _is_compacted(self) -> bool:
        """Return whether the branch already ends with a compaction."""
        leaf = self._runtime.manager.get_leaf_entry()
        return leaf is not None and leaf.type == "compaction"


def _compaction_problem(compaction: Compaction | None) -> str | None:
    """Return what is wrong with a compaction's parts."""
    for name in ("summary", "first_kept_entry_id") if compaction is not None else ():
        if not isinstance(getattr(compaction, name), str):
            return f"it returned a Compaction with {name}={safe_repr(getattr(compaction, name))}, which is not a text"
    return None
