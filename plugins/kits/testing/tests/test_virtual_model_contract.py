"""The contract suite of virtual models: a good one passes, and each way in which one can be wrong fails a row."""

from __future__ import annotations

import pytest
from attrs import evolve

from pi_hookspecs import VirtualModel, hookimpl
from pi_testing import VirtualModelContract


class Router:
    """A virtual model over the scripted one; ``route`` may be replaced."""

    def __init__(self):
        self.auto = VirtualModel(
            provider="router",
            id="auto",
            name="Auto",
            route=lambda request, ctx: self.route(request),
            thinking_levels=("off", "low"),
        )

    def route(self, request):
        return "scripted/model", None

    @hookimpl
    def register_models(self):
        return [self.auto]


ROUTER = Router()
BROKEN = {
    "level": lambda request: ("scripted/model", None if request.thinking_level == "off" else "vast"),
    "continuation": lambda request: ("scripted/model" if request.reason != "continuation" else "nowhere/none", None),
    "direct": lambda request: ("scripted/model" if request.reason != "direct" else request.model, None),
    "previous": lambda request: (request.previous[0], None),
}


@pytest.mark.pi(plugins={"router": ROUTER})
class TestRouter(VirtualModelContract):
    model = "router/auto"


@pytest.mark.pi(plugins={"router": ROUTER})
@pytest.mark.parametrize("way", BROKEN)
async def test_a_wrong_one_fails_its_row(pi_session, script, monkeypatch, way):
    monkeypatch.setattr(ROUTER, "route", BROKEN[way])
    await pi_session.set_model(pi_session.models.find("router/auto"))
    suite, definition = TestRouter(), ROUTER.auto
    rows = {
        "level": lambda: suite.test_each_level_that_can_be_selected_leads_to_a_model(pi_session, script),
        "continuation": lambda: suite.test_each_request_of_a_run_goes_to_a_model_that_can_answer(pi_session, script),
        "direct": lambda: suite.test_a_request_outside_the_conversation_has_a_model(pi_session, script),
        "previous": lambda: suite.test_it_chooses_for_every_reason_with_and_without_a_previous_answer(
            pi_session, definition
        ),
    }

    with pytest.raises((AssertionError, TypeError)):
        await rows[way]()


async def test_a_definition_without_a_limit_fails_its_row():
    incomplete = evolve(ROUTER.auto, max_tokens=0)

    with pytest.raises(AssertionError):
        await TestRouter().test_its_definition_is_complete(incomplete)
