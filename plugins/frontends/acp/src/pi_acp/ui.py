"""The user interface in the editor: choices become permission requests, forms elicitations, notices messages."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from itertools import count
from typing import TYPE_CHECKING, Any

from pi_acp.permissions import chosen_option
from pi_core import DialogUI, ask_fields, field_problem, label_of
from pi_hookspecs import FormField, mark_unanswered

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from pi_acp.client import Client
    from pi_core import DialogRequest
    from pi_hookspecs import AbortSignal, Approval, NoticeLevel, ToolCallEvent

__all__ = ["AcpUI"]

_NOT_ANSWERED = "the editor did not answer the question"

_LEVELS = {"info": "", "warning": "Warning: ", "error": "Error: "}

_YES_OR_NO = [
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]

_TYPES = {"text": "string", "choice": "string", "choices": "array"}


class AcpUI(DialogUI):
    """Implements ``UserInterface``; features that only terminals have do nothing.

    Args:
        client: The editor.
        say: Displays a text in the conversation.
        permit: Returns why a tool call must not run, None if it may; may ask the user.
    """

    def __init__(
        self,
        client: Client,
        say: Callable[[str], None],
        permit: Callable[[ToolCallEvent, AbortSignal | None], Awaitable[str | None]],
    ) -> None:
        self._client = client
        self._say = say
        self._permit = permit
        self._ids = count(1)
        self._pages: set[asyncio.Task[Any]] = set()

    async def permit_call(self, event: ToolCallEvent, signal: AbortSignal | None) -> str | None:
        """Return why a tool call must not run, None if it may: a dialog, so that no deadline ends it."""
        return await self._permit(event, signal)

    # Dialogs

    async def ask_dialog(self, dialog: DialogRequest) -> Any:
        """Ask for permission with the options, or for a text; dismissed if that is a text and the editor has no forms.

        Options may be ``{"label", "value"}``.
        """
        title, signal, seconds = dialog.title, dialog.signal, dialog.timeout
        if dialog.approval is not None:
            return await self._ask_approval(dialog.approval, signal, seconds)
        if dialog.kind == "confirm":
            return await self._choose(title, dialog.text, _YES_OR_NO, signal, seconds) == "yes"
        if dialog.kind == "select":
            choices = [each if isinstance(each, Mapping) else {"label": each} for each in dialog.options]
            offered = [
                {"optionId": str(number), "name": str(each.get("label", each.get("value"))), "kind": "allow_once"}
                for number, each in enumerate(choices)
            ]
            chosen = await self._choose(title, "", offered, signal, seconds)
            each = choices[int(chosen)] if chosen is not None else {}
            return str(each.get("value", each.get("label"))) if chosen is not None else None
        if dialog.kind == "input":
            asked = FormField("text", title=title, description=dialog.text, default=None)
        else:
            asked = FormField("text", title=title, default=dialog.text or None)
        return await self._ask_text(asked, title, signal, seconds)

    async def _ask_approval(self, approval: Approval, signal: AbortSignal | None, seconds: float | None) -> Any:
        """Ask with the kinds of answers that editors know; return the label of the chosen one."""
        options = [
            {
                "optionId": each.answer,
                "name": label_of(approval, each.answer),
                "kind": f"{'allow' if each.allows else 'reject'}_{'always' if each.lasting else 'once'}",
            }
            for each in approval.choices
        ]
        message = "\n\n".join(part for part in (approval.what, approval.why) if part)
        chosen = await self._choose(approval.title, message, options, signal, seconds)
        return label_of(approval, chosen) if chosen is not None else None

    async def _choose(
        self,
        title: str,
        message: str,
        options: list[dict[str, Any]],
        signal: AbortSignal | None,
        seconds: float | None,
    ) -> str | None:
        call_id = f"question-{next(self._ids)}"
        content = [{"type": "content", "content": {"type": "text", "text": message}}] if message else []
        call = {"toolCallId": call_id, "title": title, "kind": "other", "status": "pending", "content": content}
        self._client.update("tool_call", **call)
        answer = await self._client.ask(
            "session/request_permission", {"toolCall": call, "options": options}, signal=signal, seconds=seconds
        )
        self._client.update("tool_call_update", toolCallId=call_id, status="completed")
        mark_unanswered(_NOT_ANSWERED if answer is None else None)
        return chosen_option(answer, {each["optionId"] for each in options})

    async def form(
        self,
        fields: Sequence[FormField],
        *,
        title: str = "",
        message: str = "",
        signal: AbortSignal | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the contract's
    ) -> dict[str, Any] | None:
        """Let the user fill in a form; field by field if the editor has no forms."""
        if not self._client.can.has_forms:
            return await ask_fields(self, fields, title=title, message=message, signal=signal, timeout=timeout)
        content = await self._elicit(fields, "\n\n".join(filter(None, [title, message])) or "pi asks", signal, timeout)
        if content is None:
            return None
        given = {each.name: content.get(each.name, each.default) for each in fields}
        answer = {name: value for name, value in given.items() if value is not None}
        for each in fields:
            problem = field_problem(each, answer[each.name]) if each.name in answer else None
            if problem is None and each.required and each.name not in answer:
                problem = f"{each.label} is required"
            if problem is not None:
                self.notify(problem, "warning")
                return None
        return answer

    async def _ask_text(
        self, asked: FormField, title: str, signal: AbortSignal | None, seconds: float | None
    ) -> str | None:
        if not self._client.can.has_forms:
            mark_unanswered("the editor cannot ask for a text")
            return None
        content = await self._elicit([asked], title, signal, seconds)
        return None if content is None else str(content.get("text", asked.default or ""))

    async def _elicit(
        self, fields: Sequence[FormField], message: str, signal: AbortSignal | None, seconds: float | None
    ) -> dict[str, Any] | None:
        schema = {
            "type": "object",
            "properties": {each.name: _property(each) for each in fields},
            "required": [each.name for each in fields if each.required],
        }
        asked = {"mode": "form", "message": message, "requestedSchema": schema}
        answer = await self._client.ask("elicitation/create", asked, signal=signal, seconds=seconds)
        mark_unanswered(_NOT_ANSWERED if answer is None else None)
        if answer is None or answer.get("action") != "accept":
            return None
        content = answer.get("content")
        return content if isinstance(content, dict) else {}

    def open_url(self, url: str) -> bool:
        """Let the editor open a page; return whether it can."""
        if not self._client.can.opens_urls:
            return False
        page = {"mode": "url", "elicitationId": f"page-{next(self._ids)}", "url": url, "message": "pi opens a page"}
        task = asyncio.get_running_loop().create_task(self._client.ask("elicitation/create", page))
        self._pages.add(task)
        task.add_done_callback(self._pages.discard)
        return True

    # Notices

    def notify(self, message: str, level: NoticeLevel = "info") -> None:
        """Display a notice in the conversation, the only place for it in an editor."""
        self._say(f"{_LEVELS.get(level, '')}{message}\n\n")


def _property(asked: FormField) -> dict[str, Any]:
    """Return the JSON schema of a field."""
    schema: dict[str, Any] = {"type": _TYPES.get(asked.type, asked.type), "title": asked.label}
    if asked.description:
        schema["description"] = asked.description
    if asked.default is not None:
        schema["default"] = asked.default
    options = [{"const": each.value, "title": each.label} for each in asked.options]
    if asked.type == "choice":
        return {**schema, "oneOf": options}
    if asked.type == "choices":
        schema["items"] = {"anyOf": options}
    names = {"text": ("minLength", "maxLength"), "choices": ("minItems", "maxItems")}
    for name, limit in zip(names.get(asked.type, ("minimum", "maximum")), (asked.minimum, asked.maximum), strict=True):
        if limit is not None:
            schema[name] = limit if asked.type == "number" else int(limit)
    if asked.pattern is not None:
        schema["pattern"] = asked.pattern
    return schema
