"""The header is the plugin's until a command displays pi's."""

from __future__ import annotations

import pytest


@pytest.mark.pi(screen=True)
async def test_the_header_says_where_one_is(pi_session, fake_ui, tmp_path):
    assert fake_ui.screens["header"].rows[5] == f"Welcome to {tmp_path.name}"


@pytest.mark.pi(screen=True)
async def test_commands_change_between_both_headers(pi_session, fake_ui):
    await pi_session.prompt("/pi-header")
    of_pi = dict(fake_ui.screens)
    await pi_session.prompt("/own-header")

    assert of_pi == {}
    assert "header" in fake_ui.screens
