"""The terminal is notified when an answer is done."""

from __future__ import annotations

import io

from pi_testing import error, text


class Terminal(io.StringIO):
    """What stderr is when a person sits before it."""

    def isatty(self):
        return True


async def test_the_terminal_is_notified_of_a_finished_answer(pi_session, script, monkeypatch):
    script.turn(text("Done."))
    monkeypatch.setattr("sys.stderr", terminal := Terminal())

    await pi_session.prompt("go")

    assert terminal.getvalue() == "\x1b]777;notify;pi;Ready for input\x07"


async def test_the_terminal_is_notified_of_a_failure(pi_session, script, monkeypatch):
    script.turn(error("overloaded"))
    monkeypatch.setattr("sys.stderr", terminal := Terminal())

    await pi_session.prompt("go")

    assert "Something went wrong" in terminal.getvalue()
