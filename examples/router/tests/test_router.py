"""A strong model plans and a cheap one edits."""

from __future__ import annotations

import pytest

from pi_hookspecs import Context, Model, ProviderInfo, SideRequest, ToolResult, UserMessage, hookimpl
from pi_testing import VirtualModelContract, make_tool, text, tool_call


class TwoModels:
    """A strong and a cheap model, played by the script."""

    @hookimpl
    def register_models(self):
        models = tuple(
            Model(id=name, name=name, api="scripted", provider="acme", reasoning=True) for name in ("strong", "cheap")
        )
        return [ProviderInfo(id="acme", name="Acme", api="scripted", keyless=True, models=models)]


TOOLS = [
    make_tool("read", result=ToolResult.text("x = 1")),
    make_tool("edit", result=ToolResult.text("edited")),
    make_tool("bash", result=ValueError("1 test failed")),
]

pytestmark = pytest.mark.pi(
    plugins={"acme": TwoModels()},
    tools=TOOLS,
    settings={"router": {"plan": "acme/strong", "edit": "acme/cheap"}},
)


async def choose_router(session):
    await session.set_model(session.models.find("plan-edit/auto"))
    await session.set_thinking_level("high")


async def test_a_strong_model_plans_a_cheap_one_edits_and_a_failure_returns_to_the_strong_one(pi_session, script):
    await choose_router(pi_session)
    for name in ("read", "edit", "read", "bash", "edit"):
        script.turn(tool_call(name))
    script.turn(text("Done.")).turn(text("Hello."))

    await pi_session.prompt("Fix it")
    await pi_session.prompt("Thanks")

    asked = [(request.model.id, request.options.reasoning) for request in script.requests]
    strong, cheap = ("strong", "high"), ("cheap", "low")
    assert asked == [strong, strong, cheap, cheap, strong, cheap, strong]


async def test_summaries_are_cheap(pi_session, script):
    await choose_router(pi_session)
    script.turn(text("A title"))

    await pi_session.complete(Context(messages=(UserMessage(content="title"),)), SideRequest(purpose="title"))

    assert script.requests[0].model.id == "cheap"


@pytest.mark.pi(settings={})
async def test_the_user_learns_which_setting_is_missing(pi_session):
    await choose_router(pi_session)

    answer = await pi_session.prompt("Fix it")

    assert "router.plan" in answer.error_message


class TestContract(VirtualModelContract):
    model = "plan-edit/auto"
