"""What the Messages API rejects, as far as pi's requests could trigger it, with error texts close to its own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pi_testing.fake_servers.claude_schemas import schema_violations
from pi_testing.fake_servers.tool_rules import CLAUDE_KEY, image_problem, name_problem, schema_problems

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["anthropic_violation"]

_CALL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_TOOL_NAME = r"^[a-zA-Z0-9_-]{1,128}$"
_MOST_MARKS = 4
_MOST_IMAGES = 100
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
    yield from _conversation_violations(body)


def _conversation_violations(body: dict[str, Any]) -> Iterator[str]:
    for number, message in enumerate(body["messages"]):
        yield from _content_violations(f"messages.{number}", message)
        yield from _order_violations(number, message)
    yield from _pair_violations(body["messages"])
    if body["messages"][-1]["role"] == "assistant":
        yield "This model does not support assistant message prefill. The conversation must end with a user message."
    images = str(body["messages"]).count("'type': 'image'")
    if images > _MOST_IMAGES:
        yield f"Too much media: 0 document pages + {images} images > {_MOST_IMAGES}"


def _tool_violations(tools: Sequence[dict[str, Any]]) -> Iterator[str]:
    names = [tool["name"] for tool in tools]
    if len(set(names)) < len(names):
        yield "tools: Tool names must be unique."
    for number, tool in enumerate(tools):
        if problem := name_problem(tool["name"], _TOOL_NAME):
            yield f"tools.{number}.custom.name: {problem}"
        for problem in schema_problems(tool["input_schema"], key=CLAUDE_KEY):
            yield f"tools.{number}.custom.input_schema: {problem}"
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
        elif kind == "tool_use":
            yield from _call_violations(where, block)
        elif kind == "thinking" and not block.get("signature"):
            yield f"{where}.thinking.signature: Field required"
        elif kind == "image":
            yield from _image_violations(where, block["source"])
        elif kind == "tool_result":
            yield from _result_violations(where, block)


def _call_violations(where: str, block: dict[str, Any]) -> Iterator[str]:
    if not _CALL_ID.fullmatch(block["id"]):
        yield f"{where}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
    if problem := name_problem(block["name"], _TOOL_NAME):
        yield f"{where}.tool_use.name: {problem}"


def _result_violations(where: str, block: dict[str, Any]) -> Iterator[str]:
    if not _has_content(block["content"]):
        yield f"{where}.tool_result.content: text content blocks must contain non-whitespace text"
    if block.get("is_error") and not isinstance(block["content"], str):
        yield f"{where}.tool_result: all content must be type `text` if `is_error` is true"


def _image_violations(where: str, source: dict[str, Any]) -> Iterator[str]:
    if source["media_type"].partition("/")[2] not in ("jpeg", "png", "gif", "webp"):
        yield f"{where}.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', ..."
    elif problem := image_problem(source["data"], source["media_type"]):
        yield f"{where}.{problem}"


def _has_content(content: Any) -> bool:
    """Whether a result has no blank block of text; it may be empty."""
    return isinstance(content, str) or all(block["type"] != "text" or block["text"].strip() for block in content)


def _order_violations(number: int, message: dict[str, Any]) -> Iterator[str]:
    """Look at the order of the blocks of an answer."""
    if message["role"] != "assistant" or not isinstance(message["content"], list):
        return
    kinds = [block["type"] for block in message["content"]]
    if kinds and kinds[-1] in ("thinking", "redacted_thinking"):
        yield f"messages.{number}: The final block in an assistant message cannot be `{kinds[-1]}`."
    if "tool_use" in kinds and "text" in kinds[kinds.index("tool_use") :]:
        yield f"messages.{number}: {_ALONE}"


def _pair_violations(messages: list[dict[str, Any]]) -> Iterator[str]:
    """Compare each answer's calls with the results that begin the next message."""
    used = [
        block["id"]
        for each in messages
        if isinstance(each["content"], list)
        for block in each["content"]
        if block["type"] == "tool_use"
    ]
    if len(set(used)) < len(used):
        yield "messages: `tool_use` ids must be unique"
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
