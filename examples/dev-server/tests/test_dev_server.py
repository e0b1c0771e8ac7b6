"""The user starts and stops a server; the model reads its output."""

from __future__ import annotations

import asyncio

import pytest

from pi_hookspecs import hookimpl
from pi_testing import FakeProcesses, text, tool_call


class Services:
    def __init__(self):
        self.processes = FakeProcesses()

    @hookimpl
    def register_services(self):
        return [self.processes]


@pytest.fixture
def services():
    return Services()


@pytest.fixture
def pi_plugins(pi_plugins, services):
    return {"services": services} | pi_plugins


async def test_the_model_reads_the_output_piece_by_piece(pi_session, script, services):
    await pi_session.prompt("/serve npm run dev")
    (server,) = services.processes.started
    server.print("ready\n")
    script.turn(tool_call("server_log"))
    script.turn(lambda request: (server.print("GET /\n"), tool_call("server_log", since=6))[1])
    script.turn(text("It is ready."))

    await pi_session.prompt("Is it ready?")

    first, second = (request.tool_results[0].text for request in script.requests[1:])
    assert first == "ready\n\n[npm run dev is running; read on with since=6]"
    assert second.startswith("GET /\n")


async def test_without_a_server_the_model_learns_what_to_ask_for(pi_session, script):
    script.turn(tool_call("server_log")).turn(text("Please start it."))

    await pi_session.prompt("Is it ready?")

    assert "/serve COMMAND" in script.requests[1].tool_results[0].text


async def test_the_status_line_has_the_state(pi_session, fake_ui):
    await pi_session.prompt("/serve npm run dev")
    running = fake_ui.statuses["dev-server"]
    await pi_session.prompt("/serve")

    assert running == "dev server running"
    assert fake_ui.statuses["dev-server"] == "dev server stopped (143)"


async def test_a_server_that_ends_by_itself_is_noticed(pi_session, fake_ui, services):
    await pi_session.prompt("/serve npm run dev")
    (server,) = services.processes.started

    server.end(3)
    await server.wait()
    await asyncio.sleep(0)  # the plugin waits, too

    assert fake_ui.statuses["dev-server"] == "dev server exited (3)"
