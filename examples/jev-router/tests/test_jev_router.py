"""Who answers depends on what was asked."""

from __future__ import annotations

import pytest

from pi_hookspecs import Model, ProviderInfo, hookimpl
from pi_testing import text


class TwoModels:
    """A small and a large model, played by the script."""

    @hookimpl
    def register_models(self):
        models = tuple(Model(id=size, name=size, api="scripted", provider="acme") for size in ("small", "large"))
        return [ProviderInfo(id="acme", name="Acme", api="scripted", keyless=True, models=models)]


pytestmark = pytest.mark.pi(
    plugins={"acme": TwoModels()},
    settings={"router": {"small": "acme/small", "large": "acme/large"}},
)


async def choose_router(session):
    await session.set_model(session.models.find("router/auto"))


async def test_hard_questions_go_to_the_large_model_and_others_to_the_small(pi_session, script, fake_ui):
    script.turn(text("Paris.")).turn(text("Because.")).turn(text("Long."))
    await choose_router(pi_session)

    for question in ("The capital of France?", "But why is it?", "x" * 400):
        await pi_session.prompt(question)

    assert [request.model.reference for request in script.requests] == ["acme/small", "acme/large", "acme/large"]
    assert fake_ui.statuses["router"] == "acme/large"


async def test_answer_streams_through_and_says_who_gave_it(pi_session, script, recorder):
    script.turn(text("Paris.", chunks=3))
    await choose_router(pi_session)
    pi_session.subscribe(recorder)

    answer = await pi_session.prompt("The capital of France?")

    assert (answer.text, f"{answer.provider}/{answer.model}") == ("Paris.", "acme/small")
    assert len(recorder.of("text_delta")) == 3


@pytest.mark.pi(settings={})
async def test_the_user_learns_which_setting_is_missing(pi_session):
    await choose_router(pi_session)

    answer = await pi_session.prompt("The capital of France?")

    assert "router.small" in answer.error_message
