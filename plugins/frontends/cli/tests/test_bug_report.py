"""``/bug`` writes what helps to find a bug, and no conversation and no secret; nothing is sent."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

import pi_cli
import pi_redact
from pi_testing import error, text, tool_call

pytestmark = pytest.mark.pi(plugins={"cli": pi_cli}, settings={"theme": "dark", "acme": {"level": "dark"}})


def report(fake_ui) -> tuple[str, Path]:
    message = fake_ui.notices[-1].message
    path = Path(message.split(" is in ")[1].split(". Nothing was sent")[0])
    return path.read_text(), path


async def test_the_report_has_versions_settings_and_errors_and_no_conversation(pi_session, script, fake_ui):
    script.turn(tool_call("nothing-like-it")).turn(error("529 overloaded: sk-ant-api03-0123456789abcdefghij"))
    await pi_session.prompt("a private question")

    await pi_session.prompt("/bug The screen\nwent blank")

    written, path = report(fake_ui)
    assert "## What happened\n\nThe screen\nwent blank\n" in written
    assert f"- pi {pi_cli.__version__}, Python {sys.version.split()[0]}" in written
    assert "- model: scripted/model" in written
    assert written.split("## Settings that are set")[1].split("##")[0].strip() == "theme, acme.level"
    assert "dark" not in written
    assert "- scripted/model: 529 overloaded" in written
    assert "- the tool nothing-like-it failed" in written
    assert "private question" not in written
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_a_secret_that_the_cut_of_a_long_error_would_divide_is_not_written(pi_session, script, fake_ui):
    pi_session.models.auth.add_secret("Zebra-Quagga-Okapi-Gnu", "test")
    script.turn(error(f"{'x' * 490}Zebra-Quagga-Okapi-Gnu")).turn(error("half of \ud83d a pair"))
    await pi_session.prompt("one")
    await pi_session.prompt("two")
    await pi_session.prompt("/bug")

    written, _ = report(fake_ui)
    assert "Zebra" not in written
    assert r"half of \ud83d a pair" in written


@pytest.mark.pi(plugins={"cli": pi_cli, "redact": pi_redact}, settings={"redact": {"enabled": False}})
async def test_known_secrets_are_not_written_where_redaction_is_off(pi_session, script, fake_ui):
    pi_session.models.auth.add_secret("Zebra-Quagga-Okapi-Gnu", "test")
    script.turn(error("refused Zebra-Quagga-Okapi-Gnu"))
    await pi_session.prompt("one")
    await pi_session.prompt("/bug")

    written, _ = report(fake_ui)
    assert "scripted/model: refused" in written
    assert "Zebra" not in written


async def test_a_session_without_errors_asks_what_happened(pi_session, script, fake_ui):
    script.turn(text("Hello."))
    await pi_session.prompt("hi")
    await pi_session.prompt("/bug")

    written, _ = report(fake_ui)
    assert "(what did you do, expect and get?)" in written
    assert "## Last errors of this session\n\nnone" in written
    assert "PI_LOG=debug writes one" in written


async def test_a_report_that_cannot_be_written_is_an_error_in_a_line(pi_session, fake_ui, pi_agent_dir):
    (pi_agent_dir / "logs").write_text("a file")

    await pi_session.prompt("/bug")

    assert fake_ui.notices[-1].level == "error"
    assert "The report was not written" in fake_ui.notices[-1].message
