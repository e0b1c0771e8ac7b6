"""What OpenAI's APIs reject in a request: the rules that a client is most likely to break."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pi_testing.fake_servers.tool_rules import image_problem, name_problem, schema_problems

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["completions_violation", "images_violation", "moderations_violation", "responses_violation"]

_CALL_ID = 40
_ITEM_ID = 64
_LEAST_OUTPUT = 16
_CACHE_KEY = 64
_NOT_PERMITTED = frozenset(
    (
        *("allOf", "contains", "dependentRequired", "dependentSchemas", "else", "if", "not", "oneOf"),
        *("patternProperties", "prefixItems", "propertyNames", "then", "unevaluatedProperties", "uniqueItems"),
    )
)
"""Of a schema that is to be strict."""

_FORMAT_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def completions_violation(body: Any) -> str | None:
    """Return the API's error about the body, None if it is valid."""
    return next(_completions(body), None)


def responses_violation(body: Any) -> str | None:
    """Return the API's error about the body, None if it is valid."""
    return next(_responses(body), None)


def _completions(body: Any) -> Iterator[str]:
    yield from _common(body, "messages")
    waiting: set[str] = set()
    for number, message in enumerate(body["messages"]):
        place = f"messages.[{number}]"
        role = message.get("role")
        if role not in ("system", "developer", "user", "assistant", "tool"):
            yield f"Invalid value: '{role}' at '{place}.role'."
        if role == "tool":
            if message.get("tool_call_id") not in waiting:
                yield f"Invalid parameter: {place} has role 'tool' but no preceding message has its 'tool_calls'."
            waiting.discard(message["tool_call_id"])
        elif waiting:
            yield f"An assistant message with 'tool_calls' must be followed by tool messages: {sorted(waiting)}"
        calls = message.get("tool_calls", [])
        waiting |= {each["id"] for each in calls}
        if len(waiting) < len(calls):
            yield f"Duplicate ids at '{place}.tool_calls'."
        yield from _calls(place, calls)
        if not message.get("content") and not (role == "assistant" and calls) and message.get("content") != "":
            yield f"Invalid value for 'content': expected a string, got null at '{place}'."
    if waiting:
        yield f"An assistant message with 'tool_calls' must be followed by tool messages: {sorted(waiting)}"
    for number, message in enumerate(body["messages"]):
        yield from _content(f"messages.[{number}]", message, "content" if message["role"] == "tool" else None)
    yield from _functions(tool.get("function", {}) for tool in body.get("tools", []))
    yield from _strict(tool.get("function", {}) for tool in body.get("tools", []))
    asked = body.get("response_format", {"type": "text"})
    yield from _format("response_format", {**asked, **asked.get("json_schema", {})})


def _calls(place: str, calls: list[dict[str, Any]]) -> Iterator[str]:
    if any(not each["id"] or len(each["id"]) > _CALL_ID for each in calls):
        yield f"Invalid '{place}.tool_calls[0].id': string too long. Expected maximum length {_CALL_ID}."
    for each in calls:
        if problem := name_problem(each["function"]["name"]):
            yield f"Invalid '{place}.tool_calls[0].function.name': {problem}"


def _responses(body: Any) -> Iterator[str]:
    yield from _common(body, "input")
    if body.get("max_output_tokens", _LEAST_OUTPUT) < _LEAST_OUTPUT:
        yield "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16."
    yield from _format("text.format", body.get("text", {}).get("format", {"type": "text"}))
    if isinstance(body["input"], str):  # the API takes it for one message of the user
        return
    yield from _items(body["input"])
    yield from _reasoning_violations(body["input"])
    for number, item in enumerate(body["input"]):
        yield from _content(f"input[{number}]", item, "output" if item.get("type") == "function_call_output" else None)
        if item.get("type") == "function_call" and (problem := name_problem(item["name"])):
            yield f"Invalid 'input[{number}].name': {problem}"
    yield from _functions(body.get("tools", []))
    yield from _strict(body.get("tools", []))


def _items(items: list[dict[str, Any]]) -> Iterator[str]:
    calls: set[str] = set()
    for number, item in enumerate(items):
        place = f"input[{number}]"
        kind = item.get("type", "message")
        if kind not in ("message", "reasoning", "function_call", "function_call_output"):
            yield f"Invalid value: '{kind}' at '{place}.type'."
        if len(item.get("id") or "") > _ITEM_ID or len(item.get("call_id") or "") > _ITEM_ID:
            yield f"Invalid '{place}.id': string too long. Expected a string with maximum length {_ITEM_ID}."
        if kind == "function_call":
            calls.add(item["call_id"])
            if "id" in item and not item["id"].startswith("fc"):
                yield f"Invalid '{place}.id': '{item['id']}'. Expected an ID that begins with 'fc'."
        if kind == "function_call_output" and item["call_id"] not in calls:
            yield f"No tool call found for function call output with call_id {item['call_id']}."
        if kind == "reasoning" and not item.get("encrypted_content"):
            yield f"Item with id '{item.get('id')}' not found. Items are not persisted when `store` is set to false."
    answered = {item["call_id"] for item in items if item.get("type") == "function_call_output"}
    if calls - answered:
        yield f"No tool output found for function call {min(calls - answered)}."


def _reasoning_violations(items: list[dict[str, Any]]) -> Iterator[str]:
    """Look for reasoning with an id that is not followed by a call, or by an item with the id that it came with."""
    for item, following in zip(items, [*items[1:], {}], strict=True):
        if item.get("type") != "reasoning" or not item.get("id"):
            continue
        own = following.get("id", "")
        if not (following.get("type") in ("function_call", "reasoning") or (own and not own.startswith("msg_pi_"))):
            yield f"Item '{item['id']}' of type 'reasoning' was provided without its required following item."


def _functions(functions: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield errors about the names and schemas of functions."""
    for number, function in enumerate(functions):
        if problem := name_problem(function.get("name")):
            yield f"Invalid 'tools[{number}].function.name': {problem}"
        for problem in schema_problems(function.get("parameters")):
            yield f"Invalid schema for function '{function.get('name')}': {problem}"


def _content(place: str, item: dict[str, Any], result: str | None) -> Iterator[str]:
    """Yield errors about the content of a message, or of a result, which is in the field of this name."""
    if result is not None and not str(item[result]).strip():
        yield f"Invalid value for '{result}' at '{place}': it must not be blank."
    content = item.get(result or "content")
    for part in content if isinstance(content, list) else ():
        address = part.get("image_url")
        address = address["url"] if isinstance(address, dict) else address
        if isinstance(address, str) and address.startswith("data:"):
            kind, _, data = address.removeprefix("data:").partition(";base64,")
            if kind not in ("image/png", "image/jpeg", "image/gif", "image/webp"):
                yield f"You uploaded an unsupported image at '{place}'."
            elif problem := image_problem(data, kind):
                yield f"Invalid image at '{place}': {problem}"


def _common(body: Any, needed: str) -> Iterator[str]:
    for name in ("model", needed):
        if not isinstance(body, dict) or not body.get(name):
            yield f"Missing required parameter: '{name}'."
    if len(body.get("prompt_cache_key") or "") > _CACHE_KEY:
        yield "Invalid 'prompt_cache_key': string too long."


def _strict(functions: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield errors about functions that are declared strict and are not."""
    for function in functions:
        if function.get("strict") and (problem := _not_strict(function.get("parameters") or {})):
            yield f"Invalid schema for function '{function['name']}': {problem}"


def _format(place: str, asked: dict[str, Any]) -> Iterator[str]:
    """Yield errors about the requested format of the answer."""
    if asked.get("type") not in ("text", "json_object", "json_schema"):
        yield f"Invalid value: '{asked.get('type')}' at '{place}.type'."
    if asked.get("type") != "json_schema":
        return
    if not _FORMAT_NAME.fullmatch(asked.get("name", "")):
        yield f"Invalid '{place}.name': string does not match pattern '^[a-zA-Z0-9_-]+$'."
    schema = asked.get("schema") or {}
    if schema.get("type") != "object":
        yield f"Invalid schema for {place} '{asked.get('name')}': schema must be a JSON Schema of 'type: \"object\"'."
    if asked.get("strict") and (problem := _not_strict(schema)):
        yield f"Invalid schema for {place} '{asked.get('name')}': {problem}"


def _not_strict(schema: dict[str, Any]) -> str | None:
    refused = sorted(schema.keys() & _NOT_PERMITTED)
    if refused:
        return f"'{refused[0]}' is not permitted."
    if not schema.keys() & {"type", "anyOf", "$ref"}:
        return "schema must have a 'type' key."
    properties, kinds = schema.get("properties"), schema.get("type", ())
    if properties is not None or kinds == "object" or "object" in kinds:
        if schema.get("additionalProperties") is not False:
            return "'additionalProperties' is required to be supplied and to be false."
        if set(schema.get("required", ())) != set(properties or ()):
            return "'required' is required to be supplied and to be an array including every key in properties."
    if "array" in kinds and "items" not in schema:
        return "array schema missing items."
    below = [*(properties or {}).values(), schema.get("items"), *schema.get("anyOf", ())]
    return next((found for each in below if isinstance(each, dict) and (found := _not_strict(each))), None)


_IMAGE_FIELDS = frozenset(
    (
        *("model", "prompt", "n", "size", "quality", "background", "output_format", "response_format"),
        *("aspect_ratio", "input_references"),
    )
)


def images_violation(body: dict[str, Any]) -> str | None:
    """Return the error message of the images APIs for an invalid body, None for a valid one."""
    for name in ("model", "prompt"):
        if not isinstance(body.get(name), str) or not body[name]:
            return f"Missing required parameter: '{name}'."
    if str(body["model"]).startswith("gpt-image") and "response_format" in body:
        return "Unknown parameter: 'response_format'."
    return None if body.keys() <= _IMAGE_FIELDS else "Unknown parameter."


def moderations_violation(body: dict[str, Any]) -> str | None:
    """Return the error message of the moderations API for an invalid body, None for a valid one."""
    return None if isinstance(body.get("input"), str) else "Missing required parameter: 'input'."
