"""Tool calls that a server passes on as something else: a text that it could not read, or several calls as one."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Container

__all__ = ["PARALLEL_CALLS", "generated_calls", "parallel_calls"]

# The patterns are compiled when they are used: hardly any answer has such a call.
_PARAMETER = (
    r"""(?s)\s*<parameter(?:=(?P<bare>[\w.-]+)|\s+name="(?P<quoted>[\w.-]+)")\s*>\n?(?P<value>.*?)\n?</parameter>\s*"""
)

_GENERATED = r"(?s)<function[=(](?P<name>[\w.:-]+?)[>=,)]*\s*(?P<arguments>\{.*?\})[)>\s]*</?function>"
"""Llama's marks around a name and a JSON object, as Groq reports them."""

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


def generated_calls(text: str) -> list[tuple[str, dict[str, Any]]] | None:
    """Return the calls in a text that a server failed to read as a call, None if it is anything else.

    Such a server (Groq's ``failed_generation``) had already recognised the call, so that its name and its arguments
    may be wrong: the model is told so in the result.
    """
    from pi_provider_kit.call_forms import read_calls

    found = list(re.finditer(_GENERATED, text))
    if not found:
        return read_calls(text, {})
    if re.sub(_GENERATED, "", text).strip():
        return None
    calls = [_named(each["name"], each["arguments"]) for each in found]
    return None if None in calls else calls  # type: ignore[return-value] # no None is left


def _named(name: str, text: str) -> tuple[str, dict[str, Any]] | None:
    """Return a call whose arguments are the JSON in ``text``."""
    try:
        arguments = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return (name.removeprefix("functions.").partition(":")[0], arguments) if isinstance(arguments, dict) else None


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
