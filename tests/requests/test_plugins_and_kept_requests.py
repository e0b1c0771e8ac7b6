"""What plugins change in a long conversation is sent, once, whether they return it or change it in place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from attrs import evolve
from drawn.served import FAKES, KEY, TOOL, url_of

from pi_core import SessionManager
from pi_hookspecs import AssistantMessage, ContextResult, TextContent, hookimpl

if TYPE_CHECKING:
    from pi_hookspecs import BeforeProviderRequestEvent, ContextEvent, ModelUsageEvent


class Changing:
    """A plugin that changes the first question, the arguments of the first call, or the payload.

    Attributes:
        how: What it does now.
    """

    def __init__(self) -> None:
        self.how = ""

    @hookimpl
    def context(self, event: ContextEvent) -> ContextResult | None:
        if self.how == "returns":
            changed = evolve(event.messages[0], content=(TextContent("changed"),))
            return ContextResult(messages=(changed, *event.messages[1:]))
        if self.how.startswith("arguments in place"):
            answer = next(each for each in event.messages if isinstance(each, AssistantMessage) and each.tool_calls)
            for name in answer.tool_calls[0].arguments:
                answer.tool_calls[0].arguments[name] = "changed"
            if self.how == "arguments in place, and the same list":
                return ContextResult(messages=event.messages)
        return None

    @hookimpl
    def before_provider_request(self, event: BeforeProviderRequestEvent) -> Any:
        if self.how.startswith("payload in place"):
            change(event.payload)
        return event.payload if self.how == "payload in place, and the same object" else None

    @hookimpl
    def model_usage(self, event: ModelUsageEvent) -> None:
        if self.how == "payload after it was sent":
            change(event.payload)


def change(payload: Any) -> None:
    listed = next(payload[name] for name in ("messages", "input", "contents") if name in payload)
    first = next(each for each in listed if each.get("role") == "user")
    if isinstance(content := first.get("content", first.get("parts")), str):
        first["content"] = "changed"
    else:
        content[0]["text"] = "changed"


WAYS = (
    "returns",
    "arguments in place",
    "arguments in place, and the same list",
    "payload in place",
    "payload in place, and the same object",
    "payload after it was sent",
)


@pytest.mark.parametrize("api", FAKES)
async def test_a_change_of_a_plugin_is_in_its_request_and_in_no_other(session_of, tmp_path, api):
    make_server, model, says, calls_tool = FAKES[api]
    key = "_.q" if "claude" in model else KEY
    changing = Changing()
    async with make_server() as server:
        manager, urls = SessionManager.create(tmp_path), {api: url_of(server)}
        async with session_of(manager, urls, [], f"fake-{api}/{model}", changing=changing) as session:
            for number in range(4):
                server.answers(calls_tool(number, TOOL, {key: f"query {number}"}), says("Found."))
                await session.prompt(f"Search {number}.")
            for how in WAYS:
                for changing.how in ("", how, ""):
                    server.answers(says("Yes."))
                    answered = await session.prompt("And now?")
                    expected = changing.how not in ("", "payload after it was sent")

                    assert answered.text == "Yes."
                    assert (b"changed" in server.requests[-1].body) == expected, (how, changing.how)
