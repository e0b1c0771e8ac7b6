"""The example of a stranger's compaction: it replaces ours, with no change elsewhere."""

from __future__ import annotations

import importlib.util
import tomllib
from pathlib import Path

import pytest

import pi_compaction
from pi_hookspecs import UserError
from pi_testing import error, text

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "first-and-last"
SOURCE = EXAMPLE / "src" / "pi_first_and_last" / "__init__.py"


@pytest.fixture
def pi_plugins():
    """Ours, and then the example from its folder, as nothing installs it here."""
    spec = importlib.util.spec_from_file_location("pi_first_and_last", SOURCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {"compaction": pi_compaction, "first-and-last": module}


async def test_the_summary_is_what_the_user_said(pi_session, script):
    for said in ("one", "two", "three"):
        script.turn(text(f"Answer to {said}."))
        await pi_session.prompt(said)

    await pi_session.compact()

    assert [message.role for message in pi_session.messages] == ["compactionSummary", "user", "assistant"]
    assert pi_session.messages[0].summary == "The user asked, in this order:\n- one\n- two"
    assert len(script.requests) == 3


async def test_our_triggers_use_it(pi_session, script):
    script.turn(text("Fine."))
    await pi_session.prompt("one")
    script.turn(error("prompt is too long")).turn(text("Here."))

    answer = await pi_session.prompt("two")

    assert answer.text == "Here."
    assert [message.role for message in script.requests[-1].messages] == ["user", "user"]


async def test_with_one_message_there_is_nothing_to_compact(pi_session, script):
    script.turn(text("Fine."))
    await pi_session.prompt("one")

    with pytest.raises(UserError, match="Nothing to compact"):
        await pi_session.compact()


def test_it_is_short_and_installed_like_a_strangers_plugin():
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]

    assert len(SOURCE.read_text().splitlines()) <= 32
    assert project["entry-points"]["pi"] == {"first-and-last": "pi_first_and_last"}
    assert {each.partition(">=")[0] for each in project["dependencies"]} == {"pluggypi-hookspecs"}
