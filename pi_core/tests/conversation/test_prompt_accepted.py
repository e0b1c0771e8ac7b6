"""``on_accepted`` is called with the disposition of a prompt, once and before the first event."""

from __future__ import annotations

import pytest

from pi_hookspecs import AgentBusy, Command, InputResult, hookimpl
from pi_testing import stall, text


class Deals:
    @hookimpl
    def register_commands(self):
        return [Command(name="deal", handler=lambda arguments, ctx: None)]

    @hookimpl
    def input(self, event):
        return InputResult(handled=True) if event.text == "swallow" else None


pytestmark = pytest.mark.pi(plugins={"deals": Deals()})


async def test_the_start_event_of_a_run_comes_before_it_begins(pi_session, script):
    script.turn(text("Hi."))
    reported = []
    pi_session.subscribe(lambda event: reported.append(event.type))

    await pi_session.prompt("Hello", on_accepted=reported.append)

    assert reported[:2] == ["started", "agent_start"]
    assert reported.count("started") == 1


@pytest.mark.parametrize("message", ["/deal", "swallow"])
async def test_what_a_plugin_deals_with_is_reported_as_handled(pi_session, message):
    reported = []

    await pi_session.prompt(message, on_accepted=reported.append)

    assert reported == ["handled"]


async def test_input_during_a_run_is_reported_as_queued_or_refused(pi_session, script):
    import asyncio

    script.turn(text("Hi."), stall())
    reported = []
    running = asyncio.create_task(pi_session.prompt("Hello"))
    await script.stalled()

    await pi_session.prompt("More", streaming_behavior="followUp", on_accepted=reported.append)
    with pytest.raises(AgentBusy):
        await pi_session.prompt("More", on_accepted=reported.append)
    await pi_session.abort()
    await running

    assert reported == ["queued"]
