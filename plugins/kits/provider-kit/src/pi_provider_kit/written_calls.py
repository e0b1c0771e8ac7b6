"""Tool calls that arrive as text: the model wrote one that its server did not recognise, or several as one.

Three notations are known: ``<tool_call>{"name": ..., "arguments": {...}}</tool_call>``,
``<function=name><parameter=key>value</parameter></function>`` with or without ``<tool_call>`` around it, and
``<invoke name="..."><parameter name="key">value</parameter></invoke>``.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

__all__ = ["PARALLEL_CALLS", "WrittenCalls", "generated_calls", "parallel_calls", "xml_calls"]

# The patterns are compiled when they are used, in 1.5 ms: hardly any answer has such a call.
_PARAMETER = (
    r"""(?s)\s*<parameter(?:=(?P<bare>[\w.-]+)|\s+name="(?P<quoted>[\w.-]+)")\s*>\n?(?P<value>.*?)\n?</parameter>\s*"""
)

_FUNCTION = r"""(?sx)
    \s*(?:<function=(?P<bare>[\w.-]+)\s*>(?P<bare_body>.*?)</function>
        |<invoke\s+name="(?P<quoted>[\w.-]+)"\s*>(?P<quoted_body>.*?)</invoke>)\s*
"""

_TOOL_CALL = r"(?s)<tool_call>(?P<body>.*?)</tool_call>"

_OPENINGS = ("<tool_call>", "<function=", "<invoke ")

_THINK = "<think>"

_THOUGHT = "</think>"

_GENERATED = (
    r"(?s)<function[=(](?P<name>[\w.:-]+?)[>=,)]*\s*(?P<arguments>\{.*?\})[)>\s]*</?function>",
    r"""(?sx)<\|tool_call_begin\|>\s*(?P<name>[\w.:-]+)\s*
        <\|tool_call_argument_begin\|>\s*(?P<arguments>\{.*?\})\s*<\|tool_call_end\|>""",
)
"""Llama's and Kimi's marks around a name and a JSON object."""

_SECTION = r"<\|tool_calls_section_(?:begin|end)\|>"

PARALLEL_CALLS = ("multi_tool_use.parallel", "multi_tool_use_parallel", "functions.parallel", "parallel")
"""Names by which OpenAI's models call several tools at once; see ``parallel_calls``."""


def xml_parameters(text: str) -> dict[str, Any] | None:
    """Return the values of a text that consists of complete parameter elements, else None.

    Values are strings; the tool's schema turns them into numbers and booleans.
    """
    found: dict[str, Any] = {}
    at = 0
    parameter = re.compile(_PARAMETER)
    while at < len(text):
        element = parameter.match(text, at)
        if element is None:
            return None
        name = element["bare"] or element["quoted"]
        if name in found or "<parameter" in element["value"]:
            return None
        found[name] = element["value"]
        at = element.end()
    return found or None


def xml_calls(text: str, tools: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]] | None:
    """Return the calls ``(name, arguments)`` of which the text consists, None if it is a text.

    Whoever quotes, explains or refuses a call writes more than the call: before it, after it, around it or in the same
    line. So nothing but complete calls of offered tools is a call, with arguments that fit the tool's schema. Only for
    an answer that ended by itself, without a call that the server recognised, and where the model may make calls.

    Args:
        text: The text of the answer.
        tools: The names of the offered tools, with the JSON schemas of their arguments.
    """
    calls: list[tuple[str, dict[str, Any]]] = []
    rest = text.strip()
    while rest:
        wrapped = re.match(_TOOL_CALL, rest)
        element = wrapped or re.match(_FUNCTION, rest)
        if element is None:
            return None
        call = _json_call(wrapped["body"]) or _function_call(wrapped["body"]) if wrapped else _function_call(element[0])
        if call is None or call[0] not in tools or not _fits(call[1], tools[call[0]]):
            return None
        calls.append(call)
        rest = rest[element.end() :].strip()
    return calls or None


class WrittenCalls:
    """Holds back the text of an answer while it may be a call, so that no front end shows it as text.

    Text in ``<think>`` at the beginning, from servers that do not separate it, passes.

    Args:
        tools: As for ``xml_calls``.
    """

    def __init__(self, tools: Mapping[str, Any]) -> None:
        self._tools = tools
        self._held: list[str] = []
        self._state = "begin" if tools else "text"
        """``begin`` (undecided), ``call`` (it begins like one), ``thinking``, or ``text`` (it is none)."""
        self._beginnings: tuple[str, ...] = (*_OPENINGS, _THINK)
        self._tail = ""

    def feed(self, text: str) -> str:
        """Return the text to show now."""
        if self._state == "text":
            return text
        if self._state == "thinking":
            return self._think(text)
        self._held.append(text)
        if self._state == "call":
            return ""
        begin = "".join(self._held).lstrip()
        if begin.startswith(_THINK) and _THINK in self._beginnings:
            self._beginnings, self._state = _OPENINGS, "thinking"
            return self._think(self._taken())
        if begin.startswith(_OPENINGS):
            self._state = "call"
        elif not any(each.startswith(begin) for each in self._beginnings):
            return self.release()
        return ""

    @property
    def holds(self) -> bool:
        """Whether text is held back."""
        return bool(self._held)

    def release(self) -> str:
        """Return the text that was held back, because it is a text."""
        self._state = "text"
        return self._taken()

    def end(self) -> tuple[str, list[tuple[str, dict[str, Any]]]]:
        """Return the text to show at the end of the answer, and the calls that were written in place of it."""
        held = self.release()
        calls = xml_calls(held, self._tools) if held else None
        return ("", calls) if calls else (held, [])

    def _taken(self) -> str:
        text = "".join(self._held)
        self._held.clear()
        return text

    def _think(self, text: str) -> str:
        seen = self._tail + text
        at = seen.find(_THOUGHT)
        if at < 0:
            self._tail = seen[1 - len(_THOUGHT) :]
            return text
        at += len(_THOUGHT) - len(self._tail)
        self._state = "begin"
        return text[:at] + self.feed(text[at:])


def generated_calls(text: str) -> list[tuple[str, dict[str, Any]]] | None:
    """Return the calls in a text that a server failed to read as a call, None if it is anything else.

    Such a server (Groq's ``failed_generation``) had already recognised the call, so that its name and its arguments
    may be wrong: the model is told so in the result.
    """
    text = re.sub(_SECTION, "", text).strip()
    for pattern in _GENERATED:
        if found := list(re.finditer(pattern, text)):
            if re.sub(pattern, "", text).strip():
                return None
            calls = [_named(each["name"], each["arguments"]) for each in found]
            return None if None in calls else calls  # type: ignore[return-value] # no None is left
    if text.startswith("<"):
        inner = re.fullmatch(_TOOL_CALL, text)
        call = (_json_call(inner["body"]) or _function_call(inner["body"])) if inner else _function_call(text)
        return None if call is None else [call]
    if text.startswith("["):
        items = _json_values(text)
        calls = [_call_of(item) for item in items] if items else [None]
        return None if None in calls else calls  # type: ignore[return-value] # as above
    call = _json_call(text)
    return None if call is None else [call]


def parallel_calls(name: str, text: str, tools: Container[str]) -> list[tuple[str, dict[str, Any]]] | None:
    """Return the calls that a call of ``multi_tool_use.parallel`` stands for, None if it is another call.

    OpenAI's models make such a call, of a tool that nobody offers, where they want several at once. It is taken apart
    only if each of them is an offered tool.
    """
    if name not in PARALLEL_CALLS or name in tools:
        return None
    try:
        uses = json.loads(text)["tool_uses"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    calls = [_use(use) for use in uses] if isinstance(uses, list) else []
    return calls if calls and all(each[0] in tools and isinstance(each[1], dict) for each in calls) else None


def _use(use: Any) -> tuple[str, Any]:
    if not isinstance(use, dict):
        return "", None
    name = use.get("recipient_name", use.get("name"))
    arguments = use.get("parameters", use.get("arguments", {}))
    return (name.removeprefix("functions.") if isinstance(name, str) else ""), arguments


def _fits(arguments: dict[str, Any], schema: Any) -> bool:
    """Whether every argument is one of the tool's, and none that it requires is missing."""
    schema = schema if isinstance(schema, dict) else {}
    known, required = schema.get("properties"), schema.get("required")
    known = known if isinstance(known, dict) else {}
    more = schema.get("additionalProperties", False)
    return all(name in arguments for name in required or ()) and (
        bool(more) or all(name in known for name in arguments)
    )


def _function_call(text: str) -> tuple[str, dict[str, Any]] | None:
    function = re.fullmatch(_FUNCTION, text)
    if function is None:
        return None
    body = function["bare_body"] if function["bare"] else function["quoted_body"]
    arguments = {} if not body.strip() else xml_parameters(body)
    return None if arguments is None else (function["bare"] or function["quoted"], arguments)


def _json_call(text: str) -> tuple[str, dict[str, Any]] | None:
    from pi_provider_kit.repair import repair_arguments

    try:
        call = json.loads(text)
    except (ValueError, RecursionError):
        repaired = repair_arguments(text)
        call = repaired[0] if repaired is not None else None
    return _call_of(call)


def _json_values(text: str) -> list[Any]:
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return values if isinstance(values, list) else []


def _call_of(call: Any) -> tuple[str, dict[str, Any]] | None:
    if not isinstance(call, dict) or not isinstance(call.get("name"), str):
        return None
    arguments = call.get("arguments", call.get("parameters", {}))
    return (call["name"], arguments) if isinstance(arguments, dict) else None


def _named(name: str, text: str) -> tuple[str, dict[str, Any]] | None:
    """Return a call whose arguments are the JSON in ``text``."""
    try:
        arguments = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return (name.removeprefix("functions.").partition(":")[0], arguments) if isinstance(arguments, dict) else None
