"""What Mistral's chat API refuses in a request: fields it does not know, ids that are not nine characters, disorder."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pi_testing.fake_servers.tool_rules import name_problem, schema_problems

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["mistral_violation"]

_FIELDS = {
    *("model", "messages", "stream", "max_tokens", "temperature", "top_p", "stop", "random_seed", "metadata", "n"),
    *("response_format", "tools", "tool_choice", "parallel_tool_calls", "presence_penalty", "frequency_penalty"),
    *("prediction", "reasoning_effort", "prompt_mode", "guardrails", "prompt_cache_key", "service_tier", "safe_prompt"),
}

_MESSAGE_FIELDS = {
    "system": {"role", "content"},
    "user": {"role", "content"},
    "assistant": {"role", "content", "tool_calls", "prefix"},
    "tool": {"role", "content", "tool_call_id", "name"},
}

_PARTS = {"text": "text", "image_url": "image_url", "thinking": "thinking"}
"""Kinds of content, and the field in which each has its text."""

_CALL_ID = re.compile(r"[a-zA-Z0-9]{9}")

_MOST_IMAGES = 8

_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")

_CHOICES = ("auto", "none", "any", "required")


def mistral_violation(body: Any) -> tuple[int, str] | None:
    """Return the status and the message of the API's error for an invalid body, None for a valid one."""
    return next(_violations(body), None)


def _violations(body: Any) -> Iterator[tuple[int, str]]:
    if not isinstance(body, dict) or not body.get("model") or not body.get("messages"):
        yield 422, "Field required: model, messages"
        return
    if extra := sorted(body.keys() - _FIELDS):
        yield 422, f"Extra inputs are not permitted: {extra}"
    if body.get("prompt_mode", "reasoning") != "reasoning":
        yield 422, f"Invalid prompt_mode: {body['prompt_mode']!r}"
    if body.get("reasoning_effort", "high") not in _EFFORTS:
        yield 422, f"Invalid reasoning_effort: {body['reasoning_effort']!r}"
    yield from ((422, problem) for problem in _format(body.get("response_format", {"type": "text"})))
    if not isinstance(body.get("prompt_cache_key", ""), str):
        yield 422, "Input should be a valid string: prompt_cache_key"
    yield from ((422, problem) for problem in _choice(body.get("tool_choice", "auto")))
    yield from ((422, problem) for problem in _tools(body.get("tools", ())))
    images = str(body["messages"]).count("'type': 'image_url'")
    if images > _MOST_IMAGES:
        yield 400, f"Too many images: {images} > {_MOST_IMAGES}"
    for message in body["messages"]:
        yield from ((422, problem) for problem in _shape(message))
    yield from ((400, problem) for problem in _order(body["messages"]))


def _tools(tools: Iterable[dict[str, Any]]) -> Iterator[str]:
    for number, tool in enumerate(tools):
        function = tool.get("function", {})
        if not function.get("name") or not isinstance(function.get("parameters"), dict):
            yield f"Field required: tools[{number}].function.name, tools[{number}].function.parameters"
        elif problem := name_problem(function["name"]):
            yield f"Function name was {function['name']} but must be a-z, A-Z, 0-9, or contain _ and -: {problem}"
        else:
            yield from schema_problems(function["parameters"])
        if not isinstance(function.get("strict", False), bool):
            yield f"Input should be a valid boolean: tools[{number}].function.strict"


def _choice(choice: Any) -> Iterator[str]:
    if choice not in _CHOICES and not (isinstance(choice, dict) and choice.get("function", {}).get("name")):
        yield f"Invalid tool_choice: {choice!r}"


def _format(asked: dict[str, Any]) -> Iterator[str]:
    if asked.get("type") not in ("text", "json_object", "json_schema"):
        yield f"Invalid response_format: {asked.get('type')!r}"
    schema = asked.get("json_schema", {})
    if asked.get("type") == "json_schema" and not (schema.get("name") and isinstance(schema.get("schema"), dict)):
        yield "Field required: response_format.json_schema.name, response_format.json_schema.schema"


def _shape(message: dict[str, Any]) -> Iterator[str]:
    role = message.get("role")
    known = _MESSAGE_FIELDS.get(role) if isinstance(role, str) else None
    if known is None:
        yield f"Unknown role: {role!r}"
        return
    if extra := sorted(message.keys() - known):
        yield f"Extra inputs are not permitted in a message of role {role!r}: {extra}"
    content = message.get("content")
    for part in content if isinstance(content, list) else ():
        if part.get("type") not in _PARTS or _PARTS[part["type"]] not in part:
            yield f"Invalid part of content: {part!r}"
    for call in message.get("tool_calls") or ():
        if not _CALL_ID.fullmatch(call.get("id", "")):
            yield f"Tool call id was {call.get('id')} but must be a-z, A-Z, 0-9, with a length of 9."
        if problem := name_problem(call.get("function", {}).get("name")):
            yield f"Function name: {problem}"


def _order(messages: list[dict[str, Any]]) -> Iterator[str]:
    waiting: set[str] = set()
    for number, message in enumerate(messages):
        role = message["role"]
        if role == "tool":
            if message.get("tool_call_id") not in waiting:
                yield f"Unexpected tool call id {message.get('tool_call_id')} in tool results"
            waiting.discard(message.get("tool_call_id", ""))
        elif waiting:
            yield "Not the same number of function calls and responses"
        if role == "system" and number:
            yield f"Unexpected role 'system' after role '{messages[number - 1]['role']}'"
        calls = message.get("tool_calls") or ()
        if role == "assistant" and not message.get("content") and not calls:
            yield "Assistant message must have either content or tool_calls, but not none."
        waiting |= {call["id"] for call in calls}
        if len(waiting) < len(calls):
            yield "Duplicate tool call id in assistant message"
    last = messages[-1]
    if waiting:
        yield "Not the same number of function calls and responses"
    if last["role"] not in ("user", "tool") and not last.get("prefix"):
        yield (f"Expected last role User or Tool (or Assistant with prefix True) for serving but got {last['role']}")
