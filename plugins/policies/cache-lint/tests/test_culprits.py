"""Twelve plugins that break the provider's cache, each in its own way: all are named, with the hook."""

from __future__ import annotations

from itertools import count

import pytest
from attrs import evolve

from pi_hookspecs import (
    BeforeAgentStartResult,
    ContextResult,
    PromptSection,
    SystemPromptResult,
    TextContent,
    ToolResultMessage,
    UserMessage,
    hookimpl,
    tool,
)
from pi_testing import text, tool_call, usage

CACHED = usage(input=200, cache_read=0, cache_write=60_000)
READ = usage(input=200, cache_read=60_000, cache_write=200)
MISSED = usage(input=300, cache_read=0, cache_write=60_100)


class Numbers:
    """Counts the calls of its hook."""

    def __init__(self):
        self.number = count(1)


class DateInPrompt(Numbers):
    @hookimpl
    def system_prompt(self, event):
        return SystemPromptResult(sections=[PromptSection(name="clock", text=f"It is now second {next(self.number)}.")])


class SectionThatComesLate(Numbers):
    @hookimpl
    def system_prompt(self, event):
        late = next(self.number) > 1
        return SystemPromptResult(sections=[PromptSection(name="hints", text="Be brief.")] if late else [])


class PromptOfTheRun(Numbers):
    @hookimpl
    def before_agent_start(self, event):
        return BeforeAgentStartResult(system_prompt=f"{event.system_prompt}\nPrompt {next(self.number)}")


@tool
async def lookup(word: str) -> str:
    """Look a word up."""
    return word


@tool
async def measure(length: int) -> str:
    """Measure something."""
    return str(length)


class LateTool:
    @hookimpl
    def activate(self, pi):
        pi.on("agent_settled", lambda event: pi.register_tool(lookup))


class ToolThatGoes:
    @hookimpl
    def activate(self, pi):
        remove = pi.register_tool(lookup)
        pi.on("agent_settled", lambda event: remove())


class OtherSchema:
    @hookimpl
    def activate(self, pi):
        pi.register_tool(lookup)
        pi.on("agent_settled", lambda event: pi.register_tool(evolve(lookup, description="Look up a word.")))


class SetOrder:
    """Registers its tools again in another order, as one that keeps them in a set."""

    @hookimpl
    def activate(self, pi):
        removers = [pi.register_tool(each) for each in (lookup, measure)]

        def again(event):
            for remove in removers:
                remove()
            for each in (measure, lookup):
                pi.register_tool(each)

        pi.on("agent_settled", again)


class TrimsOldResults:
    @hookimpl
    def context(self, event):
        users = sum(isinstance(each, UserMessage) for each in event.messages)
        return ContextResult(messages=[self.trimmed(each, users) for each in event.messages])

    def trimmed(self, message, users):
        return (
            evolve(message, content=(TextContent("(old)"),))
            if users > 2 and isinstance(message, ToolResultMessage)
            else message
        )


class ReminderInFront(Numbers):
    @hookimpl
    def context(self, event):
        return ContextResult(messages=[UserMessage(content=f"Reminder {next(self.number)}"), *event.messages])


class PayloadText(Numbers):
    @hookimpl
    def before_provider_request(self, event):
        first, *rest = event.payload["messages"]
        return {**event.payload, "messages": [{**first, "text": f"{next(self.number)}: {first['text']}"}, *rest]}


class PayloadInPlace(Numbers):
    @hookimpl
    def before_provider_request(self, event):
        event.payload["tool_choice"] = {"type": "auto", "attempt": next(self.number)}


class PayloadSystem(Numbers):
    @hookimpl
    def before_provider_request(self, event):
        return {**event.payload, "system_prompt": f"{event.payload['system_prompt']} ({next(self.number)})"}


CULPRITS = {
    "date": (DateInPrompt, "system_prompt", "system[clock]"),
    "late-section": (SectionThatComesLate, "system_prompt", "system[hints]"),
    "run-prompt": (PromptOfTheRun, "before_agent_start", "system"),
    "late-tool": (LateTool, "register_tools", "tools[lookup]: added"),
    "gone-tool": (ToolThatGoes, "register_tools", "tools[lookup]: removed"),
    "schema": (OtherSchema, "register_tools", "tools[lookup]: other schema"),
    "set-order": (SetOrder, "register_tools", "tools[measure]: reordered"),
    "trimmer": (TrimsOldResults, "context", "messages[3]"),
    "reminder": (ReminderInFront, "context", "messages[0]"),
    "payload-text": (PayloadText, "before_provider_request", "messages[0]"),
    "payload-choice": (PayloadInPlace, "before_provider_request", "tool_choice"),
    "payload-system": (PayloadSystem, "before_provider_request", "system"),
}


class Bystander:
    """Changes prompt, messages and payload the same way each time, which breaks nothing."""

    @hookimpl
    def system_prompt(self, event):
        return SystemPromptResult(sections=[PromptSection(name="house", text="Say please.")])

    @hookimpl
    def context(self, event):
        first, *rest = event.messages
        return ContextResult(messages=[first, UserMessage(content="Think first."), *rest])

    @hookimpl
    def before_provider_request(self, event):
        return {**event.payload, "service_tier": "flex"}


@pytest.fixture(params=CULPRITS)
def name(request):
    return request.param


@pytest.fixture
def pi_plugins(name, cache_lint):
    return {"cache-lint": cache_lint, "bystander": Bystander(), name: CULPRITS[name][0]()}


async def test_the_culprit_is_named_with_its_hook(pi_session, script, name, fake_ui, breaks):
    script.turn(tool_call("ls"), CACHED).turn(text("one"), READ).turn(text("two"), MISSED)
    await pi_session.prompt("first")
    first = breaks(pi_session)
    await pi_session.prompt("second")

    _, hook, link = CULPRITS[name]
    found = breaks(pi_session)[-1]
    assert (found["kind"], found["plugin"], found["hook"], found["link"]) == ("avoidable", name, hook, link)
    assert found["dollars"] == pytest.approx(0.163, abs=0.001)
    assert f"plugin '{name}' ({hook})" in fake_ui.notices[-1].message
    assert all(each["plugin"] == name for each in first)
