"""Conversion of messages to blocks: stored messages, and the model's answer while it is received.

An answer's blocks are created while it streams. They are then corrected to match the complete message, which plugins
may have replaced, and which has no empty or incomplete blocks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_tui.view import numbers
from pi_tui.view.blocks import Answer, Bash, Custom, Error, Notice, Summary, Thinking, Tool, User
from pi_tui.view.changes import NOTHING, Changes
from pi_tui.view.clean import clean, clean_line, clean_output
from pi_tui.view.content import images_of, text_of
from pi_tui.view.growing import Growing, Tail
from pi_tui.view.of_tools import take_result
from pi_tui.view.state import changed

if TYPE_CHECKING:
    from pi_tui.view.blocks import Block
    from pi_tui.view.state import State

__all__ = ["add_message", "answer_received", "message_end", "message_start", "message_update", "set_bash_result"]


# Events


def message_start(state: State, event: Any) -> Changes:
    """Begin an answer, or add a message that is already complete."""
    if event.message.role == "assistant":
        state.answering = {}
        return NOTHING
    return add_message(state, event.message) if event.message.role in ("user", "custom") else NOTHING


def answer_received(state: State, event: Any) -> Changes:
    """Begin an answer with the part that was received earlier; further deltas follow."""
    state.answering = {}
    changes = NOTHING
    for index, content in enumerate(event.message.content):
        if content.type == "toolCall":
            changes |= _begin_call(state, index, content.id, content.name)
            state.unfinished[content.id].arguments = dict(content.arguments) or None
        elif content.type in ("text", "thinking"):
            block = state.answering[index] = _new(state, content.type)
            text = content.text if content.type == "text" else content.thinking
            block.text.append(state.cleaner(block).feed(text))
            changes |= changed(block)
    return changes


def message_update(state: State, event: Any) -> Changes:
    """Apply a streaming event to the current answer."""
    update = event.assistant_message_event
    kind = update.type
    if kind in ("text_delta", "thinking_delta"):
        return _grow(state, update, kind.removesuffix("_delta"))
    if kind in ("text_end", "thinking_end"):
        return _finish(state, update)
    if kind == "toolcall_start":
        return _begin_call(state, update.content_index, update.id, update.tool_name)
    block = state.answering.get(getattr(update, "content_index", -1))
    if not isinstance(block, Tool):
        return NOTHING
    if kind == "toolcall_delta":
        block.received.append(update.delta)
    elif kind == "toolcall_end":
        block.arguments, block.received = dict(update.tool_call.arguments), Growing()
    return changed(block)


def _grow(state: State, update: Any, content_type: str) -> Changes:
    known = state.answering.get(update.content_index)
    if isinstance(known, Answer | Thinking):
        block = known
    else:
        block = state.answering[update.content_index] = _new(state, content_type)
    piece = state.cleaner(block).feed(update.delta)
    if not piece:
        return NOTHING
    block.text.append(piece)
    return changed(block)


def _finish(state: State, update: Any) -> Changes:
    block = state.answering.get(update.content_index)
    if not isinstance(block, Answer | Thinking):
        return NOTHING
    block.text.append(state.cleaner(block).end())
    block.done = True
    state.forget_cleaner(block)
    return changed(block)


def _begin_call(state: State, index: int, call_id: str, name: str) -> Changes:
    block = state.add(Tool, call_id=call_id, name=clean_line(name))
    state.answering[index] = state.unfinished[call_id] = block
    return changed(block)


def message_end(state: State, event: Any) -> Changes:
    """Complete a message."""
    message = event.message
    if message.role == "assistant":
        return _complete(state, message)
    if message.role == "toolResult":
        return take_result(
            state,
            message.tool_call_id,
            output=text_of(message.content),
            images=images_of(message.content),
            details=message.details,
            failed=message.is_error,
            duration_ms=message.duration_ms,
        ) | numbers.count(state.footer, message.usage)
    return NOTHING


def _complete(state: State, message: Any) -> Changes:
    """Make the blocks match the contents of the complete answer, in order."""
    waiting = [*state.answering.values()]
    changes = NOTHING
    used: list[Block] = []
    for content in message.content:
        found = next((each for each in waiting if _is_of(each, content)), None)
        waiting = [each for each in waiting if each is not found]
        block, change = _set_content(state, found, content)
        used += [block] if block is not None else []
        changes |= change
    for each in waiting:
        changes |= _drop(state, each)
    state.answering = {}
    changes |= state.arrange(used)
    changes |= _outcome(state, message)
    return changes | numbers.count_answer(state.footer, message)


def _is_of(block: Block, content: Any) -> bool:
    if isinstance(block, Tool):
        return content.type == "toolCall" and bool(content.id == block.call_id)
    return block.kind == {"text": "answer", "thinking": "thinking"}.get(content.type)


def _set_content(state: State, block: Block | None, content: Any) -> tuple[Block | None, Changes]:
    """Update or create the block of a content; return it, or None if the content is not displayed, and the changes."""
    if content.type == "toolCall":
        return _set_call(state, block if isinstance(block, Tool) else None, content)
    if content.type not in ("text", "thinking"):
        return None, NOTHING
    redacted = content.type == "thinking" and bool(content.redacted)
    text = clean(content.text if content.type == "text" else content.thinking)
    if isinstance(block, Answer | Thinking):
        same = block.done and str(block.text) == text and not redacted
        return block, NOTHING if same else _set_text(state, block, text, redacted=redacted)
    if not text.strip() and not redacted:
        return None, NOTHING
    new = _new(state, content.type)
    return new, _set_text(state, new, text, redacted=redacted)


def _new(state: State, content_type: str) -> Answer | Thinking:
    return state.add(Answer) if content_type == "text" else state.add(Thinking)


def _set_text(state: State, block: Answer | Thinking, text: str, *, redacted: bool) -> Changes:
    state.forget_cleaner(block)
    block.done = True
    if str(block.text) != text:
        block.text = Growing(text)
    if isinstance(block, Thinking):
        block.redacted = redacted
    return changed(block)


def _set_call(state: State, block: Tool | None, content: Any) -> tuple[Tool, Changes]:
    if block is None:
        block = state.add(Tool, call_id=content.id, name=clean_line(content.name))
        state.unfinished[content.id] = block
    elif block.arguments == content.arguments:
        return block, NOTHING
    block.arguments, block.received = dict(content.arguments), Growing()
    return block, changed(block)


def _drop(state: State, block: Block) -> Changes:
    state.forget_cleaner(block)
    if isinstance(block, Tool):
        state.unfinished.pop(block.call_id, None)
    return state.remove(block)


_CUT = "Response was truncated: the model reached its output token limit. Ask it to continue, or for less at once."


def _outcome(state: State, message: Any) -> Changes:
    """Report an answer that ended early, and mark the tool calls of a failed or aborted answer as failed."""
    if message.stop_reason not in ("error", "aborted", "length"):
        return NOTHING
    if message.stop_reason == "length":
        return changed(state.add(Notice, text=_CUT, level="warning"))
    changes = NOTHING
    for content in message.content:
        if content.type == "toolCall":
            changes |= take_result(state, content.id, output="Operation aborted", failed=True)
    if message.stop_reason == "aborted":
        return changes | changed(state.add(Notice, text="Operation aborted"))
    detail = clean(message.error_message or "the provider gave no reason")
    return changes | changed(state.add(Error, text=clean(state.explain(detail)), detail=detail))


# Stored messages


def add_message(state: State, message: Any) -> Changes:
    """Add the blocks of a whole message."""
    add = _ADD.get(message.role)
    return add(state, message) if add is not None else NOTHING


def _add_user(state: State, message: Any) -> Changes:
    return changed(state.add(User, text=clean(text_of(message.content)), images=images_of(message.content)))


def _add_custom(state: State, message: Any) -> Changes:
    if not message.display:
        return NOTHING
    block = state.add(
        Custom,
        custom_type=clean_line(message.custom_type),
        text=clean(text_of(message.content)),
        images=images_of(message.content),
        value=message,
    )
    return changed(block)


def _add_bash(state: State, message: Any) -> Changes:
    block = state.add(Bash, command=clean(message.command), excluded=bool(message.exclude_from_context))
    return set_bash_result(block, message)


def set_bash_result(block: Bash, message: Any) -> Changes:
    """Set the output and the outcome of a command that the user ran."""
    path = message.full_output_path
    block.running = False
    block.output = Tail(clean_output(message.output))
    block.exit_code = message.exit_code
    block.cancelled = bool(message.cancelled)
    block.truncated = bool(message.truncated)
    block.full_output_path = None if path is None else clean_line(path)
    return changed(block)


def _add_summary(state: State, message: Any) -> Changes:
    of = "compaction" if message.role == "compactionSummary" else "branch"
    tokens = getattr(message, "tokens_before", 0)
    return changed(state.add(Summary, of=of, text=clean(message.summary), tokens_before=tokens))


_ADD = {
    "user": _add_user,
    "custom": _add_custom,
    "bashExecution": _add_bash,
    "branchSummary": _add_summary,
    "compactionSummary": _add_summary,
}
