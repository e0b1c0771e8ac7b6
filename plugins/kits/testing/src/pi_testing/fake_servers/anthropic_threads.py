"""Threads of the Messages API: conversations that the server keeps, continued from the id of the last answer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from attrs import evolve, field, frozen

if TYPE_CHECKING:
    from pi_testing.fake_servers.server import Answer, Request

__all__ = ["Rejection", "ThreadStore"]

_BETA = "message-threads-2026-08-12"
_OF_THE_THREAD = ("system", "tools")
_FIXED = ("model", "thinking", "output_config", "tool_choice")


class Rejection(Exception):
    """A request that the API rejects.

    Attributes:
        status: HTTP status.
        code: ``error_code`` in the details of the error; None if it has none.
    """

    def __init__(self, status: int, message: str, code: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


@frozen
class _Thread:
    whole: dict[str, Any] = field(repr=False)
    betas: str
    is_continued: bool = False


class ThreadStore:
    """The threads of a server.

    Args:
        rejected: Error code with which every thread is rejected; empty: the server does not know the field ``thread``.
            None accepts threads.
    """

    def __init__(self, rejected: str | None = None) -> None:
        self._rejected = rejected
        self._threads: dict[str, _Thread] = {}

    def lose(self) -> None:
        """Forget all threads, as the API does after minutes."""
        self._threads.clear()

    def whole(self, request: Request) -> dict[str, Any]:
        """Return the body with the whole conversation, as the model gets it.

        Raises:
            Rejection: The thread cannot be created or continued.
        """
        body = dict(request.json)
        thread = body.pop("thread", None)
        if thread is None:
            return body
        betas = request.headers.get("anthropic-beta", "")
        if _BETA not in betas or self._rejected == "":
            raise Rejection(400, "thread: Extra inputs are not permitted")
        if self._rejected:
            raise Rejection(400, "This request cannot be made with thread", self._rejected)
        return body if thread["type"] == "create" else self._continued(body, thread["previous_message_id"], betas)

    def keep(self, request: Request, whole: dict[str, Any], answer: Answer) -> None:
        """Keep the conversation of a request that creates or continues a thread, with its answer."""
        if "thread" not in request.json or answer.ending != "whole":
            return
        message = _message(answer)
        messages = [*_without_marks(whole["messages"]), {"role": "assistant", "content": message["content"]}]
        betas = request.headers.get("anthropic-beta", "")
        self._threads[message["id"]] = _Thread({**whole, "messages": messages}, betas)

    def _continued(self, body: dict[str, Any], answer: str, betas: str) -> dict[str, Any]:
        repeated = [name for name in _OF_THE_THREAD if name in body]
        if repeated:
            raise Rejection(400, f"{repeated[0]}: not permitted in a request that continues a thread")
        kept = self._threads.get(answer)
        if kept is None:
            raise Rejection(404, f"No usable Thread state was found for {answer}", "thread_not_found")
        if kept.is_continued:
            raise Rejection(400, f"{answer} was continued already", "thread_already_continued")
        changed = [name for name in _FIXED if body.get(name) != kept.whole.get(name)]
        if changed or betas != kept.betas:
            name = changed[0] if changed else "anthropic-beta"
            raise Rejection(400, f"{name} differs from the Thread's", "thread_fingerprint_mismatch")
        self._threads[answer] = evolve(kept, is_continued=True)
        fixed = {name: kept.whole[name] for name in _OF_THE_THREAD if name in kept.whole}
        return {**body, **fixed, "messages": [*kept.whole["messages"], *body["messages"]]}


def _without_marks(value: Any) -> Any:
    """Return messages without cache marks, which count for the request that sent them."""
    if isinstance(value, dict):
        return {name: _without_marks(item) for name, item in value.items() if name != "cache_control"}
    return [_without_marks(item) for item in value] if isinstance(value, list) else value


def _message(answer: Answer) -> dict[str, Any]:
    """Return id and content of an answer that is a stream."""
    message: dict[str, Any] = {"id": "", "content": []}
    for block in answer.body.decode().split("\n\n"):
        data = block.partition("data: ")[2]
        event = json.loads(data) if data else {}
        if event.get("type") == "message_start":
            message["id"] = event["message"]["id"]
        elif event.get("type") == "content_block_start":
            message["content"].append(dict(event["content_block"]))
        elif event.get("type") == "content_block_delta":
            _add(message["content"][event["index"]], event["delta"])
    for block in message["content"]:
        if "partial" in block:
            block["input"] = json.loads(block.pop("partial") or "{}")
    return message


def _add(block: dict[str, Any], delta: dict[str, Any]) -> None:
    key = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}.get(delta["type"])
    if key is not None:
        block[key] = block.get(key, "") + delta[key]
    elif delta["type"] == "input_json_delta":
        block["partial"] = block.get("partial", "") + delta["partial_json"]
