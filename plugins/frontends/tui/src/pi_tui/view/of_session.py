"""Reducers for session events: the queue, work, retries, compaction, names and the user's commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_tui.view import numbers
from pi_tui.view.blocks import Bash, Custom, Error, Notice, Summary
from pi_tui.view.changes import NOTHING, Changes
from pi_tui.view.clean import clean, clean_line
from pi_tui.view.of_messages import set_bash_result
from pi_tui.view.state import Queue, Retry, Work, changed

if TYPE_CHECKING:
    from pi_tui.view.state import State

__all__ = [
    "agent_settled",
    "agent_start",
    "bash_ended",
    "bash_started",
    "bash_update",
    "command_running",
    "compaction_end",
    "compaction_start",
    "entry_appended",
    "facts",
    "info_changed",
    "level_changed",
    "model_dispatched",
    "queue_update",
    "replaced",
    "retry_end",
    "retry_start",
    "summary_retry",
    "summary_retry_finished",
]


def queue_update(state: State, event: Any) -> Changes:
    """Set the queued messages."""
    state.queue = Queue(tuple(map(clean, event.steering)), tuple(map(clean, event.follow_up)))
    return Changes.of("queue")


# Work


def agent_start(state: State, _event: Any) -> Changes:
    """Record that a run begins, which also ends the wait for a retry."""
    if not state.work.running:
        state.work.running, state.work.started = True, state.now
    state.work.retry = None
    return Changes.of("work")


def agent_settled(state: State, _event: Any) -> Changes:
    """Record that the prompt is done."""
    state.work = Work(message=state.work.message, command=state.work.command)
    return Changes.of("work")


def command_running(state: State, event: Any) -> Changes:
    """Set or remove the name of a long-running slash command."""
    state.work.command = clean_line(event.name)
    return Changes.of("work")


def retry_start(state: State, event: Any) -> Changes:
    """Record that a failed request will be repeated."""
    state.work.retry = Retry(event.attempt, event.max_attempts, event.delay_ms, clean(event.error_message), state.now)
    return Changes.of("work")


def retry_end(state: State, event: Any) -> Changes:
    """Record that the retries have ended, and add an error if they failed."""
    state.work.retry = None
    changes = Changes.of("work")
    if event.success:
        return changes
    times = f"{event.attempt} attempt{'' if event.attempt == 1 else 's'}"
    detail = clean(event.final_error or "")
    text = f"Retry failed after {times}" + (f": {clean(state.explain(detail))}" if detail else "")
    return changes | changed(state.add(Error, text=text, detail=detail))


def compaction_start(state: State, event: Any) -> Changes:
    """Record that a compaction begins."""
    state.work.compacting = event.reason
    return Changes.of("work")


def compaction_end(state: State, event: Any) -> Changes:
    """Record that a compaction has ended; the summary comes with the entry that it appended."""
    state.work.compacting = None
    changes = Changes.of("work")
    if event.result is not None:
        state.footer.context = event.result.estimated_tokens_after
        last = next((each for each in reversed(state.blocks) if isinstance(each, Summary)), None)
        if last is not None and last.of == "compaction":
            last.tokens_after = event.result.estimated_tokens_after
            changes |= changed(last)
        return changes | Changes.of("footer")
    if event.aborted:
        return changes | changed(state.add(Notice, text="Compaction cancelled"))
    if event.error_message is None:  # nothing to compact, and the user did not request it
        return changes
    detail = clean(event.error_message)
    text = detail if detail.startswith("Compaction failed") else f"Compaction failed: {clean(state.explain(detail))}"
    return changes | changed(state.add(Error, text=text, detail=detail))


def summary_retry(state: State, _event: Any) -> Changes:
    """Record that the request for a summary is being repeated."""
    state.work.summarizing = True
    return Changes.of("work")


def summary_retry_finished(state: State, _event: Any) -> Changes:
    """Record that the request for a summary is no longer repeated."""
    state.work.summarizing = False
    return Changes.of("work")


# The session


def replaced(_state: State, event: Any) -> Changes:
    """Request a reload: the conversation was replaced, or continues from another entry."""
    if event.type == "session_start" and event.reason == "reload":  # plugins were reloaded; the entries are unchanged
        return NOTHING
    return Changes(reload=True)


def info_changed(state: State, event: Any) -> Changes:
    """Set or remove the session's name."""
    state.footer.name = None if event.name is None else clean_line(event.name)
    return Changes.of("footer", "title")


def level_changed(state: State, event: Any) -> Changes:
    """Set the reasoning effort."""
    state.footer.level = clean_line(event.level)
    return Changes.of("footer")


def model_dispatched(state: State, event: Any) -> Changes:
    """Set the model that answers for a virtual model, and the context window that is in use with it."""
    footer, level = state.footer, clean_line(event.thinking_level)
    footer.dispatched, footer.dispatched_level = clean_line(event.model), None if level == "off" else level
    footer.window = event.context_window or footer.window
    return Changes.of("footer")


def facts(state: State, event: Any) -> Changes:
    """Set fields of the footer."""
    for name, value in event.facts.items():
        setattr(state.footer, name, clean_line(value) if isinstance(value, str) else value)
    return Changes.of("footer", "title")


def entry_appended(state: State, event: Any) -> Changes:
    """Add the block of an entry for which there is no message event, and count its request's usage."""
    entry = event.entry
    changes = numbers.count(state.footer, getattr(entry, "usage", None))
    if entry.type == "model_change":
        state.footer.provider, state.footer.model = clean_line(entry.provider), clean_line(entry.model_id)
        state.footer.dispatched = None
        return changes | Changes.of("footer")
    return changes | add_entry(state, entry)


def add_entry(state: State, entry: Any) -> Changes:
    """Add the block of an entry that is not a message; most entries have none."""
    if entry.type == "compaction":
        tokens = entry.tokens_before
        return changed(state.add(Summary, of="compaction", text=clean(entry.summary), tokens_before=tokens))
    if entry.type == "branch_summary":
        return changed(state.add(Summary, of="branch", text=clean(entry.summary)))
    if entry.type == "custom":
        return changed(state.add(Custom, custom_type=clean_line(entry.custom_type), value=entry))
    return NOTHING


# Commands of the user


def bash_started(state: State, event: Any) -> Changes:
    """Add a command that is running."""
    block = state.add(Bash, command=clean(event.command), excluded=event.excluded, running=True)
    state.commands[event.id] = block
    return changed(block)


def bash_update(state: State, event: Any) -> Changes:
    """Append output to a running command; ignore the commands of other clients."""
    block = state.commands.get(str(event.id))
    if block is None:
        return NOTHING
    piece = state.cleaner(block, output=True).feed(event.delta)
    if not piece:
        return NOTHING
    block.output.append(piece)
    return changed(block)


def bash_ended(state: State, event: Any) -> Changes:
    """Set the result of a command that has ended."""
    block = state.commands.pop(event.id, None)
    if block is None:
        return NOTHING
    state.forget_cleaner(block)
    if event.message is not None:
        return set_bash_result(block, event.message)
    block.running = False
    return changed(block, state.add(Error, text=clean(event.error)))
