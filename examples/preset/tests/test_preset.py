"""One name changes model, thinking level and tools."""

from __future__ import annotations

import pytest

from pi_hookspecs import Model, ProviderInfo, hookimpl
from pi_testing import text


class Models:
    """One model that can answer, and one whose provider has no key."""

    @hookimpl
    def register_models(self):
        free = Model(id="big", name="Big", api="scripted", provider="acme", reasoning=True)
        dear = Model(id="huge", name="Huge", api="scripted", provider="dear")
        return [
            ProviderInfo(id="acme", name="Acme", api="scripted", keyless=True, models=(free,)),
            ProviderInfo(id="dear", name="Dear", api="scripted", key_variables=("DEAR_API_KEY",), models=(dear,)),
        ]


PRESETS = {
    "review": {"model": "acme/big", "thinking": "high", "tools": ["read"]},
    "dear": {"model": "dear/huge"},
}
pytestmark = pytest.mark.pi(plugins={"models": Models()}, settings={"presets": PRESETS})


def request_options(request):
    return request.model.reference, request.options.reasoning, request.tools


async def test_command_changes_all_three(pi_session, script, fake_ui):
    script.turn(text("Fine."))

    await pi_session.prompt("/preset review")
    await pi_session.prompt("look at it")

    assert request_options(script.requests[0]) == ("acme/big", "high", ("read",))
    assert fake_ui.statuses["preset"] == "review"


async def test_user_chooses_where_no_name_is_given(pi_session, fake_ui):
    fake_ui.answers("review")

    await pi_session.prompt("/preset")

    assert fake_ui.asked[0].options == ("dear", "review")
    assert pi_session.model.reference == "acme/big"


@pytest.mark.pi(session={"flags": {"preset": "review"}})
async def test_flag_begins_with_a_preset(pi_session, script):
    script.turn(text("Fine."))

    await pi_session.prompt("look at it")

    assert request_options(script.requests[0]) == ("acme/big", "high", ("read",))


async def test_the_user_learns_what_is_missing(pi_session, fake_ui):
    await pi_session.prompt("/preset dear")
    await pi_session.prompt("/preset reviwe")

    assert [notice.level for notice in fake_ui.notices] == ["warning", "error"]
    assert "No key for dear/huge" in fake_ui.notices[0].message
    assert "Known: dear, review" in fake_ui.notices[1].message
    assert pi_session.model.reference == "scripted/model"
