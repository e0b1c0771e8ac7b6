"""Questions of servers to the user during a call: form values, a page to open, a model answer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pi_core import pattern_matches, url_problem
from pi_hookspecs import (
    Approval,
    Context,
    FormField,
    FormOption,
    SideRequest,
    TextContent,
    UserError,
    UserMessage,
    unanswered_reason,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_hookspecs import PiContext
    from pi_mcp.entries import Server

__all__ = ["Questions", "form_fields"]

_MOST_TOKENS = 4096


class Questions:
    """Asks the user of a session.

    Args:
        server: The server that asks; every question names it.
        ctx: The session's context.
    """

    def __init__(self, server: Server, ctx: PiContext) -> None:
        self._server = server
        self._ctx = ctx

    async def answer(self, question: dict[str, Any]) -> Any:
        """Return the answer to a question; None for a refusal."""
        if question["kind"] == "sample":
            return await self._sample(question)
        if question.get("mode") == "url":
            return await self._page(question)
        return await self._form(question)

    async def _form(self, question: dict[str, Any]) -> dict[str, Any]:
        title = f"The MCP server {self._server.name!r} asks"
        try:
            fields = form_fields(question.get("requestedSchema") or {})
        except ValueError:
            return {"action": "decline"}
        if not fields:
            agreed = await self._ctx.ui.confirm(title, question.get("message") or "")
            return {"action": "accept", "content": {}} if agreed else _refused()
        values = await self._ctx.ui.form(fields, title=title, message=question.get("message") or "")
        return {"action": "cancel"} if values is None else {"action": "accept", "content": values}

    async def _page(self, question: dict[str, Any]) -> dict[str, Any]:
        url = str(question.get("url"))
        if urlsplit(url).scheme not in ("http", "https") or url_problem(url) is not None:
            return {"action": "decline"}
        title = f"The MCP server {self._server.name!r} wants to open a page of {urlsplit(url).hostname!r}"
        message = question.get("message") or ""
        if await self._ctx.ui.approve(Approval(title, what=url, why=message)) is None:
            return _refused()
        try:
            self._ctx.ui.open_url(url)
        except UserError:
            return {"action": "decline"}
        return {"action": "accept"}

    async def _sample(self, question: dict[str, Any]) -> dict[str, Any] | None:
        messages = [_text_of(each.get("content")) for each in question.get("messages") or ()]
        text = "\n\n".join(messages)
        title = f"Let the MCP server {self._server.name!r} ask the model this?"
        asked = f"{question['systemPrompt']}\n\n{text}" if question.get("systemPrompt") else text
        why = "The request is made with your model, at your cost; the answer goes to the server."
        if await self._ctx.ui.approve(Approval(title, what=asked, why=why)) is None:
            return None
        context = Context(system_prompt=question.get("systemPrompt") or "", messages=(UserMessage(content=text),))
        limit = min(int(question.get("maxTokens") or _MOST_TOKENS), _MOST_TOKENS)
        answer = await self._ctx.complete(context, SideRequest(purpose="mcp", max_tokens=limit))
        if answer.stop_reason in ("error", "aborted"):
            return None
        found = "".join(each.text for each in answer.content if isinstance(each, TextContent))
        return {"text": found, "model": answer.model}


def _refused() -> dict[str, Any]:
    """Return the answer without consent: MCP calls it ``decline`` if a person refused, else ``cancel``."""
    return {"action": "decline" if unanswered_reason() is None else "cancel"}


def _text_of(content: Any) -> str:
    blocks = content if isinstance(content, list) else [content]
    return "\n".join(str(each.get("text", f"[{each.get('type')}]")) for each in blocks if isinstance(each, dict))


def form_fields(schema: dict[str, Any]) -> list[FormField]:
    """Return the fields of a form for a flat JSON schema.

    Raises:
        ValueError: A property has a type that forms do not support.
    """
    required = schema.get("required") or ()
    return [_field(name, each, is_required=name in required) for name, each in (schema.get("properties") or {}).items()]


def _field(name: str, schema: dict[str, Any], *, is_required: bool) -> FormField:
    about: dict[str, Any] = {
        "title": schema.get("title") or "",
        "description": schema.get("description") or "",
        "default": schema.get("default"),
        "required": is_required,
    }
    kind = schema.get("type")
    if kind == "array":
        items = schema.get("items") or {}
        limits: dict[str, Any] = {"minimum": schema.get("minItems"), "maximum": schema.get("maxItems")}
        return FormField(name, "choices", options=_options(items), **limits, **about)
    if kind == "string" and (options := _options(schema)):
        return FormField(name, "choice", options=options, **about)
    if kind == "string":
        limits = {"minimum": schema.get("minLength"), "maximum": schema.get("maxLength")}
        return FormField(name, "text", check=_check(schema.get("pattern"), about["description"]), **limits, **about)
    if kind in ("number", "integer"):
        return FormField(name, kind, minimum=schema.get("minimum"), maximum=schema.get("maximum"), **about)
    if kind == "boolean":
        return FormField(name, "boolean", **about)
    raise ValueError(f"a form has no field for {json.dumps(schema)[:200]}")


def _check(pattern: Any, description: object) -> Callable[[Any], str | None] | None:
    """Return the check of a server's pattern, which must not hold pi up; its message is the field's description."""
    if not isinstance(pattern, str):
        return None
    message = str(description) or f"must match {pattern!r:.80}"
    return lambda value: message if pattern_matches(pattern, value) is False else None


def _options(schema: dict[str, Any]) -> list[FormOption]:
    """Return the options of a choice in its three spellings: ``oneOf``/``anyOf``, ``enum`` with or without names."""
    titled = schema.get("oneOf") or schema.get("anyOf")
    if titled:
        return [FormOption(str(each["const"]), str(each.get("title") or "")) for each in titled]
    values, names = schema.get("enum") or [], schema.get("enumNames") or []
    return [FormOption(str(value), str(names[at]) if at < len(names) else "") for at, value in enumerate(values)]
