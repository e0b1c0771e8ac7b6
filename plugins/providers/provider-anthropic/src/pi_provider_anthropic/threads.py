"""Message threads: the server keeps a session's conversation for minutes, and a request sends only what is new in it.

A thread may be lost at any time. Our own conversation stays the source: a request that cannot continue is sent again,
whole, as the first one of a new thread; and for a host that does not know threads, without one from then on.

Source: Anthropic's description of the beta ``message-threads-2026-08-12``, and the original's compatibility switch
``supportsMessageThreads``.
"""

from __future__ import annotations

import json
import logging
from collections import OrderedDict
from contextlib import suppress
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from attrs import frozen

from pi_provider_kit import HttpFailed, compact_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_hookspecs.messages import AssistantMessage

__all__ = ["Threads", "Turn"]

_SESSIONS = 1000
"""Sessions whose position is kept, those used last: the servers forget threads within an hour."""

_BAD_REQUEST = 400

_LOST = (
    "thread_already_continued",
    "thread_continue_in_flight",
    "thread_fingerprint_mismatch",
    "thread_not_found",
)
"""Errors after which the whole conversation begins a new thread."""

_UNSUPPORTED = "thread_unsupported_request"

_OF_THE_THREAD = ("system", "tools")
"""Fields that the server takes from the thread, and rejects in a request that continues one."""

_FREE = ("messages", "max_tokens", "stream", "temperature", "metadata")
"""Fields that may change within a thread."""


@frozen
class _Position:
    """Where a session can continue.

    Attributes:
        count: Messages that the server has, its own answer included.
        digest: Hash of them and of the fields that must not change.
        answer: The id of that answer.
    """

    count: int
    digest: bytes
    answer: str


class Threads:
    """Where the sessions of one provider can continue."""

    def __init__(self) -> None:
        self._positions: OrderedDict[str, _Position | None] = OrderedDict()
        """By session; None if the host rejected threads."""

    def is_rejected(self, session: str) -> bool:
        """Whether the host has rejected threads in this session."""
        return session in self._positions and self._positions[session] is None

    def position(self, session: str) -> _Position | None:
        """Return where the session can continue, if it can."""
        return self._positions.get(session)

    def set(self, session: str, position: _Position | None) -> None:
        """Set where the session can continue; None: the host rejected threads."""
        self._positions[session] = position
        self._positions.move_to_end(session)
        while len(self._positions) > _SESSIONS:
            self._positions.popitem(last=False)

    def take(self, session: str) -> None:
        """Forget where the session can continue: an answer can be continued once."""
        self._positions.pop(session, None)


class Turn:
    """One request of a session and its answer.

    Args:
        threads: Where the sessions of the provider can continue.
        session: Id of the session.
        account: Server and key: a thread belongs to them.
        to_messages: Converts an answer as the next request will contain it.
    """

    def __init__(
        self,
        threads: Threads,
        session: str,
        account: str,
        to_messages: Callable[[AssistantMessage], list[dict[str, Any]]],
    ) -> None:
        self._threads = threads
        self._session = session
        self._to_messages = to_messages
        self._payload: dict[str, Any] = {}
        self._chain = blake2b(account.encode(), digest_size=16)
        self._sent: str | None = None
        """Type of the thread field that was sent."""

    def body(self, payload: dict[str, Any], betas: str) -> dict[str, Any]:
        """Return what to send for a whole request: all of it, or what the server does not have yet.

        Args:
            payload: The whole request.
            betas: The header of beta features, which must not change within a thread either.
        """
        messages = payload.get("messages")
        self._payload = payload
        if not isinstance(messages, list) or "thread" in payload or self._threads.is_rejected(self._session):
            return payload  # a plugin's own words are sent as they are
        fixed = {name: value for name, value in payload.items() if name not in _FREE}
        self._chain.update(compact_json([betas, fixed]).encode())
        position = self._threads.position(self._session)
        known = 0 if position is None else position.count
        self._extend(messages[:known])
        continues = position is not None and len(messages) > known and self._chain.digest() == position.digest
        self._extend(messages[known:])
        if position is None or not continues:
            return self._create()
        self._threads.take(self._session)
        self._sent = "continue"
        rest = {name: value for name, value in payload.items() if name not in _OF_THE_THREAD}
        return {
            **rest,
            "messages": messages[known:],
            "thread": {"type": "continue", "previous_message_id": position.answer},
        }

    def instead(self, failure: Exception) -> dict[str, Any] | None:
        """Return what to send after a failure that is the thread's; None if another request would fail as well."""
        if self._sent is None or not isinstance(failure, HttpFailed) or failure.kind != "status":
            return None
        code = _error_code(failure.body)
        if self._sent == "continue" and code in _LOST:
            logging.getLogger("pi.providers").info("The thread cannot be continued (%s); a new one begins.", code)
            return self._create()
        unknown_field = code is None and failure.status == _BAD_REQUEST and "thread" in failure.body
        if code == _UNSUPPORTED or unknown_field:
            logging.getLogger("pi.providers").info("The host rejects threads; the session goes on without.")
            self._threads.set(self._session, None)
            self._sent = None
            return self._payload
        return None

    def answered(self, message: AssistantMessage) -> None:
        """Note a complete answer, from which the next request can continue."""
        if self._sent is None or not message.response_id:
            return
        answer = [each for each in self._to_messages(message) if each["role"] == "assistant"]
        if len(answer) != 1:
            return
        self._extend(answer)
        count = len(self._payload["messages"]) + 1
        self._threads.set(self._session, _Position(count, self._chain.digest(), message.response_id))

    def _create(self) -> dict[str, Any]:
        self._sent = "create"
        return {**self._payload, "thread": {"type": "create"}}

    def _extend(self, messages: list[Any]) -> None:
        for message in messages:
            self._chain.update(compact_json(_comparable(message)).encode())


def _comparable(message: Any) -> Any:
    """Return a message without its cache marks, which are only on the newest one, and with its text in a block."""
    if not isinstance(message, dict):
        return message
    content = message.get("content")
    if isinstance(content, str):
        return {**message, "content": [{"type": "text", "text": content}]}
    if not isinstance(content, list):
        return message
    blocks = [
        {name: value for name, value in block.items() if name != "cache_control"} if isinstance(block, dict) else block
        for block in content
    ]
    return {**message, "content": blocks}


def _error_code(body: str) -> str | None:
    """Return the code in the details of an error."""
    with suppress(ValueError, TypeError, KeyError):
        code = json.loads(body)["error"]["details"]["error_code"]
        return code if isinstance(code, str) else None
    return None
