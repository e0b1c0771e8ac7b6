"""``FakeProcesses`` replaces ``ctx.processes``."""

from __future__ import annotations

import asyncio

import pytest

from pi_hookspecs import ManagedProcess, PiError, Processes, ProcessOutput, UnknownName, hookimpl
from pi_testing import FakeProcesses


class Plugin:
    def __init__(self):
        self.fake = FakeProcesses()

    @hookimpl
    def register_services(self):
        return [self.fake]


@pytest.fixture
def fake():
    return FakeProcesses()


async def test_a_plugin_gets_it_as_ctx_processes(pi_session, pi_host):
    plugin = Plugin()
    pi_host.add(plugin, "fake")

    process = await pi_session.ctx.processes.start(["npm", "run", "a b"], cwd="web")

    assert plugin.fake.started == [process]
    assert (process.command, process.name, process.cwd) == ("npm run 'a b'", "npm run 'a b'", "web")


async def test_it_has_the_shape_of_the_real_one(fake):
    assert isinstance(fake, Processes)
    assert isinstance(await fake.start("x"), ManagedProcess)


async def test_the_test_says_what_is_printed_and_how_it_ends(fake):
    process = await fake.start("server", name="web")
    waiting = asyncio.create_task(process.wait())
    process.print("listening\n")
    await process.write("q")
    process.end(2)

    assert (process.read(), process.read(6)) == (ProcessOutput("listening\n", 10), ProcessOutput("ing\n", 10))
    assert (await waiting, process.status, process.written) == (2, "exited", ["q"])
    with pytest.raises(PiError, match="has ended"):
        await process.write("q")


async def test_a_process_is_stopped_and_found_by_its_id(fake):
    process = await fake.start("server")
    await fake.get(process.id).stop()
    process.end(0)

    assert (process.status, process.exit_code) == ("stopped", 143)
    with pytest.raises(UnknownName):
        fake.get("nope")
