"""Converts a request with tools to one without: everything becomes text, and a grammar constrains the calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pi_provider_llamacpp.engine.syntax import Syntax

__all__ = ["to_plain"]


def to_plain(payload: dict[str, Any], syntax: Syntax) -> dict[str, Any]:
    """Return the request as llama.cpp gets it: messages of system, user and assistant in turns, and a grammar.

    Args:
        payload: The request as a chat completion; its ``tools`` and ``tool_choice`` are replaced.
        syntax: How the model writes calls.
    """
    plain = {key: value for key, value in payload.items() if key not in ("messages", "tools", "tool_choice", "output")}
    tools, required = _offered(payload)
    messages = [_as_text(message, syntax) for message in payload["messages"]]
    if tools:
        messages = _with_system(messages, syntax.describe(tools))
        plain.setdefault("grammar", syntax.grammar(tools, required=required))  # a hook may have brought its own
    elif isinstance(payload.get("output"), dict):
        from pi_provider_llamacpp.engine.schemas import grammar_schema

        plain.setdefault("grammar", _output_grammar(grammar_schema(payload["output"])))
    if not syntax.has_system and messages and messages[0]["role"] == "system":
        messages[0] = {**messages[0], "role": "user"}
    plain["messages"] = _in_turns(messages)
    return plain


def _offered(payload: dict[str, Any]) -> tuple[list[dict[str, Any]], bool]:
    """Return the tools that may be called, and whether one has to be."""
    tools, choice = list(payload.get("tools") or ()), payload.get("tool_choice")
    if choice == "none":
        return [], False
    if isinstance(choice, dict):
        name = choice.get("name") or (choice.get("function") or {}).get("name")
        chosen = [tool for tool in tools if tool["function"]["name"] == name]
        return (chosen, True) if chosen else (tools, choice.get("type") in ("any", "required"))
    return tools, choice in ("any", "required")


def _output_grammar(schema: dict[str, Any]) -> str:
    import json

    return f"%llguidance {{}}\nstart: %json {json.dumps(schema)}\n"


def _as_text(message: dict[str, Any], syntax: Syntax) -> dict[str, Any]:
    role, content = message["role"], message.get("content") or ""
    if role == "tool":
        return {"role": "user", "content": syntax.result(message.get("name", "the tool"), content)}
    calls = [each["function"] for each in message.get("tool_calls") or ()]
    texts = [content, *(syntax.call(each["name"], each["arguments"]) for each in calls)]
    thought = {"reasoning_content": message["reasoning_content"]} if "reasoning_content" in message else {}
    return {"role": role, "content": "\n".join(text for text in texts if text), **thought}


def _with_system(messages: list[dict[str, Any]], text: str) -> list[dict[str, Any]]:
    """Return the messages with a text at the end of the system prompt."""
    if messages and messages[0]["role"] == "system":
        first, *rest = messages
        return [{**first, "content": f"{first['content']}\n\n{text}"}, *rest]
    return [{"role": "system", "content": text}, *messages]


def _in_turns(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the messages with neighbours of one role joined: some templates insist on turns."""
    turns: list[dict[str, Any]] = []
    for message in messages:
        if turns and turns[-1]["role"] == message["role"]:
            turns[-1] = {**turns[-1], "content": f"{turns[-1]['content']}\n\n{message['content']}"}
        else:
            turns.append(message)
    return turns
