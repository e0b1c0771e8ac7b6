"""Message threads: the server holds a conversation for some minutes, and a request sends only what is new.

A thread is an optimization that the server may forget at any time. The whole request is therefore always there: what
is sent is cut from it, and sent whole where the server no longer has the rest. A thread is continued only if the
conversation up to the server's last answer is unchanged, which digests decide; everything else begins a new one.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from attrs import frozen

from pi_provider_kit import compact_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pi_hookspecs.errors import RequestFailed

__all__ = ["BETA", "ThreadTurn", "Threads"]

BETA = "message-threads-2026-08-12"

_SESSIONS = 64
"""Sessions of which threads are remembered, the latest."""

_THREADS = 4
"""Threads of a session that are remembered: its conversation, and requests beside it."""

_KEPT_BY_SERVER = ("system", "tools")
"""Fields that a request which continues a thread must not repeat."""

_NOT_COMPARED = ("messages", "max_tokens")
"""Fields that may differ between the requests of a thread; the output limit follows the free room."""

_CODE = re.compile(r'"error_code"\s*:\s*"thread_(\w+)"')
_FORGOTTEN = ("not_found", "already_continued", "continue_in_flight")
"""Errors after which a new thread helps; after others, the session goes on without threads."""


@frozen
class _Thread:
    """What the server holds: ``count`` messages with a digest, the last of which is the answer ``message_id``."""

    settings: bytes
    count: int
    digest: bytes
    message_id: str


class Threads:
    """The threads of a provider's sessions."""

    def __init__(self) -> None:
        self._threads: OrderedDict[str, list[_Thread]] = OrderedDict()
        self._without: OrderedDict[str, None] = OrderedDict()

    def turn(self, session: str, account: str, payload: dict[str, Any]) -> ThreadTurn | None:
        """Return how to send a request of a session; None if the server refused threads in it.

        Args:
            session: Id of the session.
            account: Server and key: a thread belongs to them.
            payload: The whole request.
        """
        if session in self._without:
            return None
        settings = {name: value for name, value in payload.items() if name not in _NOT_COMPARED}
        digests = _digests(payload["messages"])
        turn = ThreadTurn(self, session, _digest(b"", [account, settings]), digests, payload)
        kept = self._threads.get(session, [])
        for thread in sorted(kept, key=lambda each: -each.count):
            goes_on = thread.count < len(digests) and digests[thread.count - 1] == thread.digest
            if goes_on and thread.settings == turn.settings:
                kept.remove(thread)  # an answer can be continued once
                turn.thread = thread
                break
        return turn

    def keep(self, session: str, thread: _Thread) -> None:
        """Remember a thread."""
        kept = self._threads.setdefault(session, [])
        kept.append(thread)
        del kept[:-_THREADS]
        self._threads.move_to_end(session)
        while len(self._threads) > _SESSIONS:
            self._threads.popitem(last=False)

    def give_up(self, session: str) -> None:
        """Send the requests of a session without threads from now on."""
        self._threads.pop(session, None)
        self._without[session] = None
        while len(self._without) > _SESSIONS:
            self._without.popitem(last=False)


class ThreadTurn:
    """One request of a thread.

    Args:
        threads: Where the thread is remembered afterwards.
        session: Id of the session.
        settings: Digest of the account and of all that must not change in a thread.
        digests: Of the messages up to each one.
        payload: The whole request.
    """

    def __init__(
        self, threads: Threads, session: str, settings: bytes, digests: Sequence[bytes], payload: dict[str, Any]
    ) -> None:
        self._threads = threads
        self._session = session
        self.settings = settings
        self._digests = digests
        self._payload = payload
        self.thread: _Thread | None = None
        """The thread that the request continues; None begins one."""
        self._threaded = True

    def body(self) -> dict[str, Any]:
        """Return what to send."""
        whole, thread = self._payload, self.thread
        if not self._threaded:
            return whole
        if thread is None:
            return {**whole, "thread": {"type": "create"}}
        new = {name: value for name, value in whole.items() if name not in _KEPT_BY_SERVER}
        new["messages"] = whole["messages"][thread.count :]
        return {**new, "thread": {"type": "continue", "previous_message_id": thread.message_id}}

    def recovers(self, error: RequestFailed) -> bool:
        """Whether the server refused the thread, so that ``body`` now returns something else to send."""
        code = _CODE.search(str(error)) if self._threaded else None
        if code is None:
            return False
        if code[1] in _FORGOTTEN and self.thread is not None:
            self.thread = None
        else:
            self._threaded = False
            self._threads.give_up(self._session)
        return True

    def answered(self, message_id: str | None, answer: Sequence[dict[str, Any]]) -> None:
        """Remember the thread up to an answer.

        Args:
            message_id: Its id.
            answer: The message, as the next request sends it, and nothing else.
        """
        if not self._threaded or not message_id or [each["role"] for each in answer] != ["assistant"]:
            return
        last = self._digests[-1] if self._digests else b""
        digest = _digest(last, _plain(answer[0]))
        self._threads.keep(self._session, _Thread(self.settings, len(self._digests) + 1, digest, message_id))


def _digests(messages: Iterable[Any]) -> list[bytes]:
    digests, last = [], b""
    for message in messages:
        last = _digest(last, _plain(message))
        digests.append(last)
    return digests


def _digest(last: bytes, value: Any) -> bytes:
    from hashlib import sha256

    return sha256(last + compact_json(value).encode()).digest()


def _plain(message: Any) -> Any:
    """Return a message without cache marks, and a string as the block that a mark would make of it.

    A plugin may have written anything into the request; what is no message is compared as it is.
    """
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return message
    blocks = [{**block, "cache_control": None} if isinstance(block, dict) else block for block in content]
    return {**message, "content": blocks}
