"""Tool calls that a local model wrote into its text, because its server did not recognise them.

Three notations are known: ``<tool_call>{"name": ..., "arguments": {...}}</tool_call>``,
``<function=name><parameter=key>value</parameter></function>`` with or without ``<tool_call>`` around it, and
``<invoke name="..."><parameter name="key">value</parameter></invoke>``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["xml_calls"]

# The patterns are compiled when they are used, in 1.5 ms: hardly any answer has such a call.
_PARAMETER = (
    r"""(?s)\s*<parameter(?:=(?P<bare>[\w.-]+)|\s+name="(?P<quoted>[\w.-]+)")\s*>\n?(?P<value>.*?)\n?</parameter>\s*"""
)

_FUNCTION = r"""(?sx)
    \s*(?:<function=(?P<bare>[\w.-]+)\s*>(?P<bare_body>.*?)</function>
        |<invoke\s+name="(?P<quoted>[\w.-]+)"\s*>(?P<quoted_body>.*?)</invoke>)\s*
"""

_TOOL_CALL = r"(?s)<tool_call>(?P<body>.*?)</tool_call>"

_OPENING = r"""<tool_call>|<function=[\w.-]+\s*>|<invoke\s+name="[\w.-]+"\s*>"""


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


def xml_calls(text: str, tools: Collection[str]) -> tuple[str, list[tuple[str, dict[str, Any]]]] | None:
    """Return the text before the calls and the calls ``(name, arguments)`` that end the text, else None.

    Everything from the first call on must be complete calls of tools in ``tools``: text after the calls, or an
    incomplete call, means that there is none. Only for a message that did not stop for length.
    """
    opening = re.search(_OPENING, text)
    if opening is None:
        return None
    calls: list[tuple[str, dict[str, Any]]] = []
    rest = text[opening.start() :].strip()
    while rest:
        wrapped = re.match(_TOOL_CALL, rest)
        element = wrapped or re.match(_FUNCTION, rest)
        if element is None:
            return None
        call = _json_call(wrapped["body"]) or _function_call(wrapped["body"]) if wrapped else _function_call(element[0])
        if call is None or call[0] not in tools:
            return None
        calls.append(call)
        rest = rest[element.end() :].strip()
    return text[: opening.start()].rstrip(), calls


def _function_call(text: str) -> tuple[str, dict[str, Any]] | None:
    function = re.fullmatch(_FUNCTION, text)
    if function is None:
        return None
    body = function["bare_body"] if function["bare"] else function["quoted_body"]
    arguments = {} if not body.strip() else xml_parameters(body)
    return None if arguments is None else (function["bare"] or function["quoted"], arguments)


def _json_call(text: str) -> tuple[str, dict[str, Any]] | None:
    import json

    from pi_provider_kit.repair import repair_arguments

    try:
        call = json.loads(text)
    except (ValueError, RecursionError):
        repaired = repair_arguments(text)
        call = repaired[0] if repaired is not None else None
    if not isinstance(call, dict) or not isinstance(call.get("name"), str):
        return None
    arguments = call.get("arguments", call.get("parameters", {}))
    return (call["name"], arguments) if isinstance(arguments, dict) else None
