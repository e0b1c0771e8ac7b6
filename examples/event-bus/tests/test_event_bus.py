"""What is told on a channel is heard by everybody who listens there."""

from __future__ import annotations

import pytest

from pi_hookspecs import hookimpl


class Neighbour:
    """Another plugin that hears the channel, and says something on it."""

    def __init__(self):
        self.heard = []

    @hookimpl
    def activate(self, pi):
        pi.events.on("greetings", self.heard.append)
        pi.on("turn_start", lambda: None)
        pi.register_command("greet", lambda args: pi.events.emit("greetings", {"from": "neighbour", "text": args}))


NEIGHBOUR = Neighbour()
with_a_neighbour = pytest.mark.pi(plugins={"neighbour": NEIGHBOUR})


async def test_the_user_is_told(pi_session, fake_ui):
    await pi_session.prompt("/emit hello")

    assert fake_ui.notices[0].message == "event-bus says: hello"
