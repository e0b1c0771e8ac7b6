"""Handlers of the RPC commands."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeAlias

from attrs import evolve

from pi_core import dumps, require_local, to_wire
from pi_hookspecs import ImageContent, PiError, UserError, UserMessage, text_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from pi_client.values import Image
    from pi_core import AgentSession, Session
    from pi_hookspecs import Model

__all__ = ["HANDLERS", "SLOW", "Answer", "Handler", "JsonText", "images_of"]

SLOW = frozenset({"bash", "compact", "export_html", "navigate_tree"})
"""Commands that may take long; the next command does not wait for them."""

_NOT_SAVED = "This session has not been saved yet. Wait for the first assistant response before cloning or forking it."


class JsonText(bytes):
    """Data that is already serialized as JSON."""


Answer: TypeAlias = "Mapping[str, Any] | JsonText | None"
Handler: TypeAlias = "Callable[[Session, Any, Mapping[str, Any]], Answer | Awaitable[Answer]]"
"""Called with the session, the command and the command's id; returns the data of the response.

A handler returns ``NO_DATA`` for a response without ``data``; None becomes ``null``.
"""

NO_DATA: Mapping[str, Any] = {}
"""Marks a response without ``data``; compared by identity."""

Id: TypeAlias = "Mapping[str, Any]"


def _here(session: Session) -> AgentSession:
    """Return the session itself, for what only its process knows: entries of all branches, model servers, files."""
    return require_local(session, "Serving a session of another process")


def images_of(images: Iterable[Image]) -> tuple[ImageContent, ...]:
    """Return a command's images as image blocks of a message."""
    return tuple(ImageContent(each.data, each.mime_type) for each in images)


# Prompting; the dispatcher handles ``prompt`` itself


async def _steer(session: Session, asked: Any, _: Id) -> Answer:
    await session.steer(asked.message, images_of(asked.images))
    return {"disposition": "queued"}


async def _follow_up(session: Session, asked: Any, _: Id) -> Answer:
    await session.follow_up(asked.message, images_of(asked.images))
    return {"disposition": "queued"}


async def _abort(session: Session, _asked: Any, _: Id) -> Answer:
    await session.abort()
    return NO_DATA


def _clear_queue(session: Session, _asked: Any, _: Id) -> Answer:
    steering, follow_up = session.clear_queue()
    return {"steering": [*steering], "followUp": [*follow_up]}


def _take_queued(session: Session, asked: Any, _: Id) -> Answer:
    taken = _here(session).take_queued_message(asked.queue, asked.place)
    if taken is None:
        raise UserError(f"No message is queued at place {asked.place} any more: it has been delivered, or taken back")
    content = getattr(taken, "content", "")
    images = [] if isinstance(content, str) else [to_wire(each) for each in content if isinstance(each, ImageContent)]
    return {"text": text_of(content), "images": images}


# State


def _get_state(session: Session, _asked: Any, _: Id) -> Answer:
    return _present(
        model=_model(session.model),
        thinkingLevel=session.thinking_level,
        isStreaming=session.is_streaming,
        isCompacting=session.is_compacting,
        steeringMode=session.steering_mode,
        followUpMode=session.follow_up_mode,
        sessionFile=_path(session.session_file),
        sessionId=session.session_id,
        sessionName=session.session_name,
        autoCompactionEnabled=session.auto_compaction_enabled,
        messageCount=len(_here(session).messages),
        pendingMessageCount=session.pending_message_count,
    )


def _get_messages(session: Session, _asked: Any, _: Id) -> Answer:
    here = _here(session)
    return JsonText(b'{"messages":[' + b",".join(here.session_manager.message_lines(here.messages)) + b"]}")


def _get_session_stats(session: Session, _asked: Any, _: Id) -> Answer:
    stats = session.get_session_stats()
    usage = stats.context_usage
    data: dict[str, Any] = to_wire(evolve(stats, context_usage=None))
    if usage is not None:
        data["contextUsage"] = {
            "tokens": usage.tokens,
            "contextWindow": usage.context_window,
            "percent": usage.percent,
        }
    if session.cache_warming is not None:
        data["cacheWarming"] = str(session.cache_warming)
    return data


def _get_last_assistant_text(session: Session, _asked: Any, _: Id) -> Answer:
    return _present(text=session.get_last_assistant_text())


async def _get_commands(session: Session, _asked: Any, _: Id) -> Answer:
    return {"commands": to_wire(await session.get_commands())}


# Model and thinking


async def _set_model(session: Session, asked: Any, _: Id) -> Answer:
    models = _here(session).models
    model = models.get_model(asked.provider, asked.model_id)
    if model is None and asked.provider in models.get_providers():
        await models.discover([asked.provider])
        model = models.get_model(asked.provider, asked.model_id)
    if model is None:
        raise UserError(f"Model not found: {asked.provider}/{asked.model_id}")
    await session.set_model(model)
    return _model(model)


async def _cycle_model(session: Session, _asked: Any, _: Id) -> Answer:
    cycle = await session.cycle_model()
    return None if cycle is None else {**to_wire(cycle), "model": _model(cycle.model)}


async def _get_available_models(session: Session, _asked: Any, _: Id) -> Answer:
    await _here(session).models.discover()
    return {"models": [_model(each) for each in session.get_available_models()]}


async def _set_thinking_level(session: Session, asked: Any, _: Id) -> Answer:
    await session.set_thinking_level(asked.level)
    return NO_DATA


async def _cycle_thinking_level(session: Session, _asked: Any, _: Id) -> Answer:
    level = await session.cycle_thinking_level()
    return None if level is None else {"level": level}


def _get_available_thinking_levels(session: Session, _asked: Any, _: Id) -> Answer:
    return {"levels": [*session.get_available_thinking_levels()]}


# Queues, compaction, retries


def _set_steering_mode(session: Session, asked: Any, _: Id) -> Answer:
    session.set_steering_mode(asked.mode)
    return NO_DATA


def _set_follow_up_mode(session: Session, asked: Any, _: Id) -> Answer:
    session.set_follow_up_mode(asked.mode)
    return NO_DATA


async def _compact(session: Session, asked: Any, _: Id) -> Answer:
    answer: Answer = to_wire(await session.compact(asked.custom_instructions))
    return answer


def _set_auto_compaction(session: Session, asked: Any, _: Id) -> Answer:
    session.set_auto_compaction_enabled(asked.enabled)
    return NO_DATA


def _set_auto_retry(session: Session, asked: Any, _: Id) -> Answer:
    session.set_auto_retry_enabled(asked.enabled)
    return NO_DATA


def _abort_retry(session: Session, _asked: Any, _: Id) -> Answer:
    session.abort_retry()
    return NO_DATA


async def _bash(session: Session, asked: Any, given: Id) -> Answer:
    done = await session.execute_bash(
        asked.command, exclude_from_context=asked.exclude_from_context, id=given.get("id")
    )
    return _present(
        output=done.output,
        exitCode=done.exit_code,
        cancelled=done.cancelled,
        truncated=done.truncated,
        fullOutputPath=done.full_output_path,
    )


def _abort_bash(session: Session, _asked: Any, _: Id) -> Answer:
    session.abort_bash()
    return NO_DATA


# Sessions


async def _new_session(session: Session, asked: Any, _: Id) -> Answer:
    return {"cancelled": not await session.new_session(parent_session=asked.parent_session)}


async def _switch_session(session: Session, asked: Any, _: Id) -> Answer:
    return {"cancelled": not await session.switch_session(asked.session_path)}


async def _fork(session: Session, asked: Any, _: Id) -> Answer:
    entry = _here(session).session_manager.get_entry(asked.entry_id)
    if not isinstance(getattr(entry, "message", None), UserMessage):
        raise UserError("Invalid entry ID for forking")
    _check_saved(session)
    outcome = await session.fork(asked.entry_id)
    return {"text": outcome.selected_text, "cancelled": outcome.cancelled}


async def _clone(session: Session, _asked: Any, _: Id) -> Answer:
    if _here(session).session_manager.leaf_id is not None:
        _check_saved(session)
    return {"cancelled": not await session.clone()}


def _get_fork_messages(session: Session, _asked: Any, _: Id) -> Answer:
    messages = session.get_user_messages_for_forking()
    return {"messages": [{"entryId": entry_id, "text": text} for entry_id, text in messages]}


def _get_entries(session: Session, asked: Any, _: Id) -> Answer:
    manager = _here(session).session_manager
    entries = manager.get_entries() if asked.since is None else manager.get_entries().after(asked.since)
    if entries is None:
        raise UserError(f"Entry not found: {asked.since}")
    return JsonText(b'{"entries":[' + b",".join(entries.lines()) + b"]" + _leaf(manager.leaf_id) + b"}")


def _get_tree(session: Session, _asked: Any, _: Id) -> Answer:
    manager = _here(session).session_manager
    return JsonText(b'{"tree":' + _nodes(manager.get_tree()) + _leaf(manager.leaf_id) + b"}")


async def _navigate_tree(session: Session, asked: Any, _: Id) -> Answer:
    moved = await session.navigate_tree(asked.entry_id, summarize=asked.summarize)
    return _present(cancelled=moved.cancelled, text=moved.editor_text)


def _leaf(leaf_id: str | None) -> bytes:
    return b"" if leaf_id is None else b',"leafId":' + dumps(leaf_id)


def _nodes(roots: Iterable[Any]) -> bytes:
    """Return nodes as JSON; without recursion, because a long conversation is a deep tree."""
    text: list[bytes] = [b"["]
    stack = [iter(roots)]
    while stack:
        node = next(stack[-1], None)
        if node is None:
            stack.pop()
            text.append(b"]}" if stack else b"]")
            continue
        if not text[-1].endswith(b"["):
            text.append(b",")
        text.append(b'{"entry":' + node.line + b"," + _label(node) + b'"children":[')
        stack.append(iter(node.children))
    return b"".join(text)


def _label(node: Any) -> bytes:
    if node.label is None:
        return b""
    return b'"label":' + dumps(node.label) + b',"labelTimestamp":' + dumps(node.label_timestamp) + b","


async def _set_session_name(session: Session, asked: Any, _: Id) -> Answer:
    name = asked.name.strip()
    if not name:
        raise UserError("Session name cannot be empty")
    await session.set_session_name(name)
    return NO_DATA


async def _export_html(session: Session, asked: Any, _: Id) -> Answer:
    return {"path": str(await _here(session).export_html(asked.output_path))}


def _check_saved(session: Session) -> None:
    file = session.session_file
    if file is not None and not file.exists():
        raise PiError(_NOT_SAVED)


def _present(**fields: Any) -> dict[str, Any]:
    """Return data without absent values, which are omitted on the wire, never null."""
    return {name: value for name, value in fields.items() if value is not None}


def _path(path: object) -> str | None:
    return None if path is None else str(path)


def _model(model: Model | None) -> dict[str, Any] | None:
    """Return a model without what may contain a key: its headers, and user, password and query of its address."""
    wire: dict[str, Any] | None = to_wire(model)
    if wire is not None:
        wire.pop("headers", None)
        if isinstance(wire.get("baseUrl"), str):
            wire["baseUrl"] = re.sub(r"(?<=//)[^/?#]*@|\?[^#]*", "", wire["baseUrl"])
    return wire


HANDLERS: dict[str, Handler] = {
    "steer": _steer,
    "follow_up": _follow_up,
    "abort": _abort,
    "clear_queue": _clear_queue,
    "take_queued": _take_queued,
    "get_state": _get_state,
    "get_messages": _get_messages,
    "get_session_stats": _get_session_stats,
    "get_last_assistant_text": _get_last_assistant_text,
    "get_commands": _get_commands,
    "set_model": _set_model,
    "cycle_model": _cycle_model,
    "get_available_models": _get_available_models,
    "set_thinking_level": _set_thinking_level,
    "cycle_thinking_level": _cycle_thinking_level,
    "get_available_thinking_levels": _get_available_thinking_levels,
    "set_steering_mode": _set_steering_mode,
    "set_follow_up_mode": _set_follow_up_mode,
    "compact": _compact,
    "set_auto_compaction": _set_auto_compaction,
    "set_auto_retry": _set_auto_retry,
    "abort_retry": _abort_retry,
    "bash": _bash,
    "abort_bash": _abort_bash,
    "new_session": _new_session,
    "switch_session": _switch_session,
    "fork": _fork,
    "clone": _clone,
    "get_fork_messages": _get_fork_messages,
    "get_entries": _get_entries,
    "get_tree": _get_tree,
    "navigate_tree": _navigate_tree,
    "set_session_name": _set_session_name,
    "export_html": _export_html,
}
"""The handlers of all commands except ``prompt``, whose response is sent before it has finished."""
