"""The status line follows the model."""

from __future__ import annotations

import pytest

from pi_hookspecs import Model, ProviderInfo, hookimpl


class Other:
    """Another model to change to."""

    @hookimpl
    def register_models(self):
        model = Model(id="other", name="Other", api="scripted", provider="acme")
        return [ProviderInfo(id="acme", name="Acme", api="scripted", keyless=True, models=(model,))]


async def test_status_says_who_answers_from_the_start(pi_session, fake_ui):
    assert fake_ui.statuses["model"] == "scripted/model"


@pytest.mark.pi(plugins={"acme": Other()})
async def test_status_changes_with_the_model(pi_session, fake_ui):
    await pi_session.set_model(pi_session.models.find("acme/other"))

    assert fake_ui.statuses["model"] == "acme/other (was model)"
