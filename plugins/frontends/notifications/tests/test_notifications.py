"""A prompt that the user typed is done: the terminal rings, the desktop shows it, a command runs."""

from __future__ import annotations

import asyncio
import io
import json
import sys

import pytest

import pi_notifications
from pi_testing import error, text

pytestmark = pytest.mark.pi(plugins={"notifications": pi_notifications})


class Terminal(io.StringIO):
    """What stderr is when a person sits before it."""

    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setattr("sys.__stderr__", terminal := Terminal())
    return terminal


def notify(**settings):
    return pytest.mark.pi(settings={"notifications": {"after": 0, **settings}})


@notify(terminal="bell")
async def test_the_bell_rings(pi_session, script, terminal):
    script.turn(text("Done."))

    await pi_session.prompt("go")

    assert terminal.getvalue() == "\a"


@notify(terminal="osc777")
async def test_the_desktop_shows_a_failure(pi_session, script, terminal):
    script.turn(error("overloaded"))

    await pi_session.prompt("go")

    assert terminal.getvalue() == f"\x1b]777;notify;pi: {pi_session.cwd.name};Something went wrong\a"


@notify(terminal="osc9")
async def test_a_prompt_that_a_plugin_wrote_notifies_of_nothing(pi_session, script, terminal):
    script.turn(text("Done.")).turn(text("Done."))

    await pi_session.prompt("go", source="extension")
    silent = terminal.getvalue()
    await pi_session.prompt("go")

    assert silent == ""
    assert terminal.getvalue() == f"\x1b]9;pi: {pi_session.cwd.name}: Ready for input\a"


@notify(terminal="bell", after=3600)
async def test_a_short_prompt_notifies_of_nothing(pi_session, script, terminal):
    script.turn(text("Done."))

    await pi_session.prompt("go")

    assert terminal.getvalue() == ""


@notify(terminal="bell")
async def test_nothing_is_written_where_no_terminal_is(pi_session, script, monkeypatch):
    script.turn(text("Done."))
    monkeypatch.setattr("sys.__stderr__", plain := io.StringIO())

    await pi_session.prompt("go")

    assert plain.getvalue() == ""


async def settled():
    """Wait until the command has run."""
    running = [each for each in asyncio.all_tasks() if each.get_coro().__qualname__ == "_run"]
    await asyncio.gather(*running)


async def test_a_command_gets_title_and_text(pi_session, script, tmp_path, fake_ui):
    code = f"import json, sys; json.dump(sys.argv[1:], open({str(tmp_path / 'said')!r}, 'w'))"
    pi_session.settings.set("notifications", {"after": 0, "command": [sys.executable, "-c", code, "-v"]})
    script.turn(text("Done."))

    await pi_session.prompt("go")
    await settled()

    assert json.loads((tmp_path / "said").read_text()) == ["-v", f"pi: {pi_session.cwd.name}", "Ready for input"]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["no-such-program-here"], "failed: Cannot run 'no-such-program-here'"),
        ([sys.executable, "-c", "import sys; sys.exit('no desktop')"], "failed: no desktop"),
    ],
)
async def test_a_command_that_fails_is_a_notice(pi_session, script, fake_ui, command, message):
    pi_session.settings.set("notifications", {"after": 0, "command": command})
    script.turn(text("Done."))

    await pi_session.prompt("go")
    await settled()

    assert message in fake_ui.notices[-1].message
