"""Data that is emitted on a channel reaches every listener."""

from __future__ import annotations

import pytest

from pi_hookspecs import hookimpl


class Neighbour:
    """Another plugin on the same channel."""

    @hookimpl
    def activate(self, pi):
        @pi.events.on("greetings")
        def receive(data):
            pi.append_entry("heard", data)

        @pi.register_command("greet")
        def greet(args, ctx):
            pi.events.emit("greetings", {"from": pi.plugin, "text": args})


pytestmark = pytest.mark.pi(plugins=[Neighbour()])


async def test_the_user_sees_what_another_plugin_reports(pi_session, fake_ui):
    await pi_session.prompt("/greet hello")

    assert fake_ui.notices[0].message == "neighbour says: hello"


async def test_other_plugins_receive_the_users_input(pi_session, fake_ui):
    await pi_session.prompt("/emit hello")

    (stored,) = [entry for entry in pi_session.session_manager.get_entries() if entry.type == "custom"]
    assert stored.data == {"from": "event-bus", "text": "hello"}
    assert fake_ui.notices[0].message == "event-bus says: hello"
