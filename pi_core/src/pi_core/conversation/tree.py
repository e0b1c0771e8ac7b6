"""Navigates to another entry in the session's tree, on request with a summary of the abandoned branch."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

import pi_hookspecs  # events are loaded on first use, because most runs use none of them
from pi_core.agent.safe_text import checked_answer
from pi_core.conversation.offered_tools import OfferedTools
from pi_core.conversation.plugin_errors import plugin_errors
from pi_hookspecs import AbortController, Aborted, AgentBusy, TreeNavigation, UserError, UserMessage, text_of

if TYPE_CHECKING:
    from pi_core.conversation.runtime import Runtime
    from pi_core.conversation.side_requests import SideRequests
    from pi_hookspecs import (
        BranchSummary,
        BranchSummaryEntry,
        SessionBeforeTreeEvent,
        SessionBeforeTreeResult,
        SessionEntry,
    )

__all__ = ["TreeNavigator"]

NO_SUMMARIZER = "No plugin in this session can summarize the branch."


class TreeNavigator:
    """Moves the leaf of a session's tree.

    Args:
        runtime: The objects that all parts share.
        requests: Makes the requests for summaries, and accounts for their tokens.
    """

    def __init__(self, runtime: Runtime, requests: SideRequests) -> None:
        self._runtime = runtime
        self._requests = requests
        self._abort: AbortController | None = None
        self._task: asyncio.Task[object] | None = None
        self._settled = asyncio.Event()
        self._settled.set()

    def abort(self) -> None:
        """Stop the summary in progress; see ``AgentSession.abort_branch_summary``."""
        if self._abort is not None:
            self._abort.abort("Branch summary cancelled")

    async def finished(self) -> None:
        """Return when no navigation is in progress; inside a navigation return at once, as it would wait for itself."""
        if self._task is not asyncio.current_task():
            await self._settled.wait()

    async def navigate(
        self,
        target_id: str,
        *,
        summarize: bool = False,
        custom_instructions: str | None = None,
        replace_instructions: bool = False,
        label: str | None = None,
    ) -> TreeNavigation:
        """Move the leaf to another entry; see ``AgentSession.navigate_tree``."""
        runtime = self._runtime
        if runtime.is_streaming:
            raise AgentBusy("A prompt is being answered. Wait for it or abort it before moving in the tree.")
        if self._abort is not None:
            raise AgentBusy("Another branch is being summarized. Wait for that or abort it before moving in the tree.")
        manager = runtime.manager
        target = manager.get_entry(target_id)
        if target is None:
            raise UserError(f"Entry {target_id} not found")
        old_leaf = manager.leaf_id
        if target_id == old_leaf:
            return TreeNavigation()
        self._abort, self._task = AbortController(), asyncio.current_task()
        self._settled.clear()
        try:
            instructions = custom_instructions, replace_instructions
            event = self._event(target_id, instructions, label, summarize=summarize)
            answer = await self._asked(event)
            if answer is not None and answer.cancel:
                return TreeNavigation(cancelled=True)
            summary = await self._summary(event, answer)
            self._abort.signal.raise_if_aborted()
        except BaseException as error:
            self._requests.account_for_summaries(carried=False)
            if isinstance(error, Aborted):
                return TreeNavigation(cancelled=True, aborted=True)
            raise
        finally:
            self._abort = self._task = None
            self._settled.set()
        self._requests.account_for_summaries(carried=summary is not None and summary.usage is not None)
        entry = self._go(target, summary, (answer.label if answer is not None else None) or label)
        from_extension = answer is not None and answer.summary is not None
        moved = pi_hookspecs.SessionTreeEvent(
            new_leaf_id=manager.leaf_id, old_leaf_id=old_leaf, summary_entry=entry, from_extension=from_extension
        )
        await runtime.announce(moved.type, lambda: moved)
        return TreeNavigation(editor_text=_user_text(target), summary_entry=entry)

    def _event(
        self, target_id: str, instructions: tuple[str | None, bool], label: str | None, *, summarize: bool
    ) -> SessionBeforeTreeEvent:
        manager = self._runtime.manager
        old = manager.get_branch(records=False)
        new = {entry.id for entry in manager.get_branch(target_id, records=False)}
        shared = [entry.id for entry in old if entry.id in new]
        assert self._abort is not None  # noqa: S101 - set by ``navigate``
        return pi_hookspecs.SessionBeforeTreeEvent(
            target_id=target_id,
            old_leaf_id=manager.leaf_id,
            common_ancestor_id=shared[-1] if shared else None,
            entries_to_summarize=tuple(old)[len(shared) :],
            user_wants_summary=summarize,
            custom_instructions=instructions[0],
            replace_instructions=instructions[1],
            label=label,
            signal=self._abort.signal,
        )

    async def _asked(self, event: SessionBeforeTreeEvent) -> SessionBeforeTreeResult | None:
        runtime = self._runtime
        if not runtime.hooks.listens("session_before_tree"):
            return None
        from pi_hookspecs.specs import session as session_specs

        answer: SessionBeforeTreeResult | None = await runtime.hooks.call(
            session_specs.session_before_tree, event, runtime.ctx
        )
        return answer

    async def _summary(
        self, event: SessionBeforeTreeEvent, answer: SessionBeforeTreeResult | None
    ) -> BranchSummary | None:
        """Return the summary of the abandoned branch: a plugin's, or the installed summarizer's if requested."""
        if answer is not None and answer.summary is not None:
            return pi_hookspecs.BranchSummary(summary=answer.summary, details=answer.details)
        if not event.user_wants_summary or not event.entries_to_summarize or event.signal is None:
            return None
        found = self._runtime.host.find("register_services", "BranchSummarizer")
        if found is None:
            from pi_core.host.advice import plugin_for

            again = "Or leave the branch without a summary."
            raise UserError(f"{NO_SUMMARIZER} {plugin_for('BranchSummarizer')} {again}")
        instructions, replace = event.custom_instructions, event.replace_instructions
        if answer is not None:
            instructions = answer.custom_instructions or instructions
            replace = replace if answer.replace_instructions is None else answer.replace_instructions
        request = pi_hookspecs.BranchSummaryRequest(
            entries=event.entries_to_summarize,
            custom_instructions=instructions,
            replace_instructions=replace,
            signal=event.signal,
        )
        with plugin_errors(self._runtime, found.plugin, "BranchSummarizer.summarize_branch", "summarize the branch"):
            made = await found.thing.summarize_branch(request, self._runtime.ctx)
            summary: BranchSummary | None = checked_answer(made, pi_hookspecs.BranchSummary, type(None))
        return summary

    def _go(self, target: SessionEntry, summary: BranchSummary | None, label: str | None) -> BranchSummaryEntry | None:
        """Move the leaf to an entry; to before a user message, so that the message can be edited."""
        manager = self._runtime.manager
        leaf = target.parent_id if _user_text(target) is not None else target.id
        entry: BranchSummaryEntry | None = None
        if summary is not None:
            entry_id = manager.branch_with_summary(leaf, summary.summary, summary.details, usage=summary.usage)
            entry = cast("BranchSummaryEntry", manager.get_entry(entry_id))
        elif leaf is None:
            manager.reset_leaf()
        else:
            manager.branch(leaf)
        if label:
            manager.append_label_change(entry.id if entry is not None else target.id, label)
        self._runtime.transcript.take_branch()
        OfferedTools(self._runtime).restore()
        return entry


def _user_text(entry: SessionEntry) -> str | None:
    """Return the text of an entry that the user, or a plugin on their behalf, wrote; None for other entries."""
    if isinstance(entry, pi_hookspecs.MessageEntry) and isinstance(entry.message, UserMessage):
        return text_of(entry.message.content)
    if isinstance(entry, pi_hookspecs.CustomMessageEntry):
        return text_of(entry.content)
    return None
