"""The file is loaded as a local extension, where a deploy.toml is."""

from __future__ import annotations

import pytest

from pi_testing import text

pytestmark = pytest.mark.pi(plugins=[], extensions=["../src/pi_deploy_target.py"])


@pytest.fixture
def deploys_to_staging(tmp_path):
    (tmp_path / "deploy.toml").write_text('target = "staging"\n')


@pytest.mark.usefixtures("deploys_to_staging")
async def test_user_and_model_know_the_target(pi_session, script, fake_ui):
    script.turn(text("To staging."))

    await pi_session.prompt("Where does it deploy to?")

    assert fake_ui.statuses == {"deploy-target": "deploys to staging"}
    assert "This project deploys to staging." in script.requests[0].system_prompt


async def test_elsewhere_it_is_not_loaded(pi_session, script, fake_ui, pi_host):
    script.turn(text("Nowhere."))

    await pi_session.prompt("Where does it deploy to?")

    assert not pi_host.has("pi_deploy_target")
    assert fake_ui.statuses == {}
