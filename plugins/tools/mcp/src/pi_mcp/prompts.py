"""Prompts of servers as slash commands: ``/mcp__server__prompt Brest day=tomorrow``."""

from __future__ import annotations

import shlex
from functools import partial
from typing import TYPE_CHECKING, Any

from attrs import frozen

from pi_hookspecs import CommandInfo, UserError
from pi_mcp.offer import tool_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_mcp.hub import Hub

__all__ = ["commands", "expanded", "missing_arguments"]


@frozen(kw_only=True)
class _Prompt:
    server: str
    name: str
    described: dict[str, Any]

    @property
    def arguments(self) -> list[dict[str, Any]]:
        return self.described.get("arguments") or []


def _prompts(hub: Hub) -> Iterator[_Prompt]:
    for server in hub.remotes:
        listed = (hub.offer.listing(server) or {}).get("prompts") or []
        names = tool_names(server, [each["name"] for each in listed])
        for each in listed:
            yield _Prompt(server=server, name=names[each["name"]], described=each)


def commands(hub: Hub) -> list[CommandInfo]:
    """Return the prompts as commands."""
    return [
        CommandInfo(
            name=each.name,
            description=each.described.get("description"),
            source="prompt",
            argument_hint=_hint(each),
            complete=partial(_complete, hub, each) if _completes(hub, each.server) else None,
        )
        for each in _prompts(hub)
    ]


def _completes(hub: Hub, server: str) -> bool:
    """Whether a server completes the arguments of its prompts."""
    about = hub.offer.listing(server) or {}
    return (about.get("capabilities") or {}).get("completions") is not None


async def _complete(hub: Hub, prompt: _Prompt, typed: str) -> list[str]:
    """Return the server's completions for the argument being typed, given the arguments before it."""
    before, space, word = typed.rpartition(" ")
    given = _arguments(prompt, before)
    names = [each["name"] for each in prompt.arguments]
    name, equals, value = word.partition("=")
    if not equals or name not in names:
        name, value = next((each for each in names if each not in given), ""), word
    if not name:
        return []
    about = {"prompt": prompt.described["name"], "argument": name, "value": value, "given": given}
    found = await hub.request(prompt.server, "complete", **about)
    named = f"{name}=" if equals and value != word else ""
    return [f"{before}{space}{named}{shlex.quote(each)}" for each in found]


def _hint(prompt: _Prompt) -> str:
    return " ".join(each["name"] if each.get("required") else f"[{each['name']}]" for each in prompt.arguments)


def _called(hub: Hub, text: str) -> tuple[_Prompt, dict[str, str]] | None:
    """Return the prompt that a text calls, and its arguments; None for any other text."""
    name, _, rest = text.removeprefix("/").partition(" ")
    prompt = next((each for each in _prompts(hub) if each.name == name), None) if text.startswith("/mcp__") else None
    return (prompt, _arguments(prompt, rest)) if prompt is not None else None


def _arguments(prompt: _Prompt, text: str) -> dict[str, str]:
    """Return arguments by name; unnamed ones are assigned in the prompt's order, and the last one takes the rest."""
    try:
        words = shlex.split(text)
    except ValueError:  # an apostrophe in a sentence
        words = text.split()
    names = [each["name"] for each in prompt.arguments]
    given: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        free = [each for each in names if each not in given]
        if equals and name in names:
            given[name] = value
        elif free:
            given[free[0]] = word
        elif names:
            given[names[-1]] += f" {word}"
    return given


def missing_arguments(hub: Hub, text: str) -> str | None:
    """Return the problem of a text that calls a prompt; None if it is valid."""
    called = _called(hub, text)
    if called is None:
        return None
    prompt, given = called
    missing = [each["name"] for each in prompt.arguments if each.get("required") and each["name"] not in given]
    return f"/{prompt.name} needs {', '.join(missing)}: /{prompt.name} {_hint(prompt)}" if missing else None


async def expanded(hub: Hub, text: str) -> str | None:
    """Return the messages of the prompt that a text calls; None for any other text.

    Raises:
        UserError: An argument is missing.
        PiError: The server did not answer.
    """
    called = _called(hub, text)
    if called is None:
        return None
    problem = missing_arguments(hub, text)
    if problem is not None:
        raise UserError(problem)
    prompt, given = called
    found = await hub.request(prompt.server, "prompt", prompt=prompt.described["name"], arguments=given)
    return str(found["text"])
