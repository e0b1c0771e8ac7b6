"""What the Messages API rejects, as far as pi's requests could trigger it, with error texts close to its own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pi_testing.fake_servers.claude_schemas import schema_violations

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["anthropic_violation"]

_CALL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_MOST_MARKS = 4
_SMALLEST_BUDGET = 1024
_ALONE = "`tool_use` ids were found without `tool_result` blocks immediately after"


def anthropic_violation(body: dict[str, Any]) -> str | None:
    """Return the Messages API's error about a body, None if it is valid."""
    return next(_violations(body), None)


def _violations(body: dict[str, Any]) -> Iterator[str]:
    for field in ("model", "messages", "max_tokens"):
        if not body.get(field):
            yield f"{field}: Field required"
            return
    if not isinstance(body["max_tokens"], int):
        yield "max_tokens: Input should be a valid integer"
    if body["messages"][0]["role"] != "user":
        yield "messages: first message must use the user role"
    marks = list(_marks(body))
    if len(marks) > _MOST_MARKS:
        yield f"A maximum of 4 blocks with cache_control may be provided. Found {len(marks)}."
    yield from _tool_violations(body.get("tools", ()))
    yield from _thinking_violations(body)
    output = body.get("output_config", {}).get("format", {"type": "text"})
    if output["type"] == "json_schema":
        yield from schema_violations("output_config.format.schema", output.get("schema"))
    elif output["type"] != "text":
        yield f"output_config.format: Input tag '{output['type']}' does not match any of the expected tags"
    for number, message in enumerate(body["messages"]):
        yield from _content_violations(f"messages.{number}", message)
    yield from _pair_violations(body["messages"])


def _tool_violations(tools: Sequence[dict[str, Any]]) -> Iterator[str]:
    names = [tool["name"] for tool in tools]
    if len(set(names)) < len(names):
        yield "tools: Tool names must be unique."
    for number, tool in enumerate(tools):
        if tool.get("strict"):
            yield from schema_violations(f"tools.{number}.custom.input_schema", tool["input_schema"])


def _thinking_violations(body: dict[str, Any]) -> Iterator[str]:
    thinking = body.get("thinking", {"type": "disabled"})
    if thinking["type"] == "enabled":
        if thinking["budget_tokens"] < _SMALLEST_BUDGET:
            yield "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
        if thinking["budget_tokens"] >= body["max_tokens"]:
            yield "`max_tokens` must be greater than `thinking.budget_tokens`."
    if thinking["type"] != "disabled":
        if body.get("temperature", 1) != 1:
            yield "`temperature` may only be set to 1 when thinking is enabled."
        if body.get("tool_choice", {}).get("type") in ("any", "tool"):
            yield "Thinking may not be enabled when tool_choice forces tool use."


def _content_violations(where: str, message: dict[str, Any]) -> Iterator[str]:
    content = message["content"]
    if not content:
        yield f"{where}: all messages must have non-empty content"
    for block in content if isinstance(content, list) else [{"type": "text", "text": content}]:
        kind = block["type"]
        if kind == "text" and not block["text"].strip():
            yield f"{where}: text content blocks must contain non-whitespace text"
        elif kind == "tool_use" and not _CALL_ID.fullmatch(block["id"]):
            yield f"{where}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
        elif kind == "thinking" and not block.get("signature"):
            yield f"{where}.thinking.signature: Field required"
        elif kind == "image" and block["source"]["media_type"].partition("/")[2] not in ("jpeg", "png", "gif", "webp"):
            yield f"{where}.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', ..."
        elif kind == "tool_result" and block.get("is_error") and not isinstance(block["content"], str):
            yield f"{where}.tool_result: all content must be type `text` if `is_error` is true"


def _pair_violations(messages: list[dict[str, Any]]) -> Iterator[str]:
    """Compare each answer's calls with the results that begin the next message."""
    calls: list[str] = []
    for number, message in enumerate(messages):
        blocks = message["content"] if isinstance(message["content"], list) else []
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        for call_id in set(calls) - set(results):
            yield f"messages.{number}: {_ALONE}: {call_id}"
        for call_id in set(results) - set(calls):
            yield f"messages.{number}: unexpected `tool_use_id` found in `tool_result` blocks: {call_id}"
        if len(set(results)) < len(results):
            yield f"messages.{number}: each tool_use must have a single result"
        calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if len(set(calls)) < len(calls):
            yield f"messages.{number}: `tool_use` ids must be unique"
    if calls:
        yield f"{_ALONE}: {', '.join(calls)}"


def _marks(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        if "cache_control" in value:
            yield value["cache_control"]
        for item in value.values():
            yield from _marks(item)
    elif isinstance(value, list):
        for item in value:
            yield from _marks(item)
