"""The screen of a served session: it shows what began before the client came, and what follows."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import pytest
from textual._context import active_app

from pi_client import ServedSession, UiRequest
from pi_hookspecs import Activity, ActivityItem, Command, hookimpl, tool
from pi_rpc_kit.remote import RemoteSession
from pi_rpc_kit.remote_ui import Asker
from pi_serve.server import SessionServer
from pi_serve.unix_socket import listening
from pi_testing import FakeUI, stall, text, tool_call
from pi_testing.patience import PATIENCE
from pi_testing.steps import Stage, Step
from pi_tui.attached import Served, resume_hint

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pi_core import AgentSession
    from pi_hookspecs import PiContext
    from pi_testing import ScriptedProvider


class Gate:
    """Is reached, and opened by the test."""

    def __init__(self) -> None:
        self._reached, self._opened = asyncio.Event(), asyncio.Event()

    async def reached(self) -> None:
        async with asyncio.timeout(PATIENCE):
            await self._reached.wait()

    def open(self) -> None:
        self._opened.set()

    async def wait(self) -> None:
        self._reached.set()
        await self._opened.wait()


def text_with(gate: Gate, before: str, after: str) -> list[Step]:
    """One text, whose second part comes when the gate is open."""

    def begin(stage: Stage) -> Iterable[Any]:
        yield stage.builder.text_start()
        yield stage.builder.text(0, before)

    async def end(stage: Stage) -> Iterable[Any]:
        await gate.wait()
        return [stage.builder.text(0, after), stage.builder.text_end(0)]

    return [Step("text so far", begin), Step("its end", end)]


async def test_an_answer_shows_what_was_received_before_and_goes_on(attached, script: ScriptedProvider) -> None:
    gate = Gate()
    script.turn(*text_with(gate, "The tide is **hi", "gh** at six."))

    async with attached("How is the tide?", gate.reached) as user:
        await user.sees("How is the tide?", "The tide is", "Working ─")
        gate.open()
        await user.sees("The tide is high at six.")

        assert user.text.count("The tide is") == 1
        await user.when(lambda: "Working" not in user.text)


async def test_the_arguments_of_a_call_show_what_was_received_before(attached, script: ScriptedProvider) -> None:
    script.turn(text("I look."), tool_call("read", path="harbour.txt"), stall())

    async with attached("Look", script.stalled) as user:
        await user.sees("I look.", "read harbour.txt")


_TIDE = Gate()


@tool
async def tide() -> str:
    """Return the tide."""
    await _TIDE.wait()
    return "high at six"


@pytest.mark.pi(tools=[tide])
async def test_a_running_tool_gets_its_result(attached, script: ScriptedProvider) -> None:
    script.turn(tool_call("tide")).turn(text("So it is."))

    async with attached("How is the tide?", _TIDE.reached) as user:
        await user.sees("tide", "Working ─")
        _TIDE.open()
        await user.sees("high at six", "So it is.")

        assert "pi ended while the call was running" not in user.text


async def test_another_session_in_the_place_of_this_one_is_displayed(attached, script: ScriptedProvider) -> None:
    script.turn(text("High."), stall()).turn(text("Low."))

    async with attached("How is the tide?", script.stalled) as user:
        await user.sees("High.")
        await user.press("escape")
        await user.when(lambda: not user.app.session.is_streaming)
        await user.type("/new ", "enter")
        await user.when(lambda: "High." not in user.text)
        await user.type("And now?", "enter")

        await user.sees("And now?", "Low.")
        assert not user.is_over


async def test_the_command_that_is_left_serves_a_session_whose_server_has_ended(
    pi_session: AgentSession, socket_path: Path
) -> None:
    session = ServedSession("019aae4e-8a4c", "/work", str(socket_path))
    server = SessionServer(pi_session)
    left = []
    async with listening(server, socket_path), AsyncExitStack() as stack:
        serving = asyncio.create_task(server.serve())
        for served in (Served(session), Served(session), Served(session, "box")):
            client = await stack.enter_async_context(await served.client(Asker()))
            left.append((RemoteSession(client, pi_session.settings, Asker()), served))
            await left[-1][0].begin()
        left[0][0].shutdown_requested.set()
        server.end(0)
        await serving
        for session_of_client, _ in left:
            await session_of_client.shutdown_requested.wait()

    assert [resume_hint(*each) for each in left] == [
        "pi attach 019aae4e",
        "Its server has ended.\npi serve 019aae4e",
        "If its server has ended, first run on box: pi serve 019aae4e\npi attach --ssh box 019aae4e",
    ]


class Ships:
    """A plugin with something that runs, which its command ends."""

    @hookimpl
    def register_commands(self):
        return [Command("sink", handler=self.sink)]

    @hookimpl
    def agent_start(self, ctx: PiContext) -> None:
        """Show a ship."""
        items = [ActivityItem("s1  ketch", open="/look s1", stop="/sink s1")]
        ctx.ui.set_activity("ships", Activity("1 ship at sea", items=items))
        ctx.ui.set_activity("tasks", Activity("1 task", items=[ActivityItem("paint it")], listed=True))

    def sink(self, _args: str, ctx: PiContext) -> None:
        ctx.ui.set_activity("ships", None)
        ctx.ui.set_activity("tasks", None)


@pytest.mark.pi(plugins=[Ships()])
async def test_what_runs_is_in_the_strip_and_can_be_stopped(attached, script: ScriptedProvider) -> None:
    script.turn(text("High."), stall())

    async with attached("Sail", script.stalled) as user:
        await user.sees("▸ 1 ship at sea · 1 task")
        assert "paint it" not in user.text
        await user.press("alt+down")
        await user.sees("Running and waiting", "→  s1  ketch", "paint it")
        await user.press("s")
        await user.sees("Nothing is running any more")
        await user.press("escape")
        await user.when(lambda: "▸" not in user.text)


async def test_what_comes_before_the_screen_is_ready_waits_for_it() -> None:
    asker, ui = Asker(), FakeUI()
    ui.answers(True)
    requests = [
        UiRequest("setStatus", {"statusKey": "k", "statusText": "busy"}),
        UiRequest("confirm", {"title": "Set sail?", "message": ""}),
    ]
    answers = [asyncio.create_task(asker.answer(each)) for each in requests]
    await asyncio.sleep(0)
    asker.ui = ui
    asker.begin()

    assert await asyncio.gather(*answers) == [None, True]
    assert ui.statuses == {"k": "busy"}


async def test_a_list_that_a_connection_does_not_have_is_refused_before_it_opens(
    attached, script: ScriptedProvider
) -> None:
    script.turn(text("High."), stall())

    async with attached("How is the tide?", script.stalled) as user:
        await user.type("/resume ", "enter")
        await user.sees("Listing sessions does not work over a connection.")

        assert user.app.dialog is None


async def test_events_come_in_the_context_in_which_timers_can_be_made(attached, script: ScriptedProvider) -> None:
    script.turn(text("High."), stall())
    contexts: list[Any] = []

    async with attached("How is the tide?", script.stalled) as user:
        user.app.session.subscribe(lambda _event: contexts.append(active_app.get(None)))
        await user.press("escape")
        await user.when(lambda: not user.app.session.is_streaming)

    assert {*contexts} == {user.app}
