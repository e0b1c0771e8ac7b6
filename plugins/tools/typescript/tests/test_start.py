"""The process of extensions starts when needed: while the model is asked, or where something of it comes first."""

from __future__ import annotations

import asyncio

import pytest

from pi_testing import steps, until

pytestmark = [pytest.mark.slow, pytest.mark.pi(entry_points=["isolated", "typescript"])]

GUARD = """
import { appendFileSync } from "node:fs";
appendFileSync(new URL("started", import.meta.url), "x");
export default (pi) => {
  pi.on("tool_call", (event) => (event.toolName === "bash" ? { block: true, reason: "not here" } : undefined));
  pi.registerTool({ name: "shout", description: "Shouts", parameters: { type: "object", properties: {} },
    execute: async () => "LOUD" });
  pi.registerCommand("greet", { handler: async (args, ctx) => ctx.ui.notify(`Hello ${args}`) });
};
"""


@pytest.fixture
async def started(pi_session, pi_extensions):
    """The file that the extension writes when it is loaded; it is known, and its process has not been started."""
    file = pi_extensions[0].with_name("started")
    await pi_session.start()
    await pi_session.reload()
    assert file.read_text() == "x"
    file.unlink()
    return file


@pytest.mark.extension("guard.mjs", GUARD)
async def test_it_starts_while_the_model_is_asked_and_nothing_waits_for_it(pi_session, script, started):
    script.turn(steps.stall())
    running = asyncio.create_task(pi_session.prompt("Go"))
    await script.stalled()

    await until(started.exists)
    assert not running.done()
    await pi_session.abort()
    await running


@pytest.mark.extension("guard.mjs", GUARD)
async def test_an_event_that_comes_first_waits_for_it(pi_session, script, fake_tools, started):
    script.turn(steps.tool_call("bash", command="ls")).turn(steps.text("done"))
    await pi_session.prompt("Go")

    assert script.requests[1].tool_results[-1].text == "not here"
    assert fake_tools["bash"].calls == []
    assert started.read_text() == "x"


@pytest.mark.extension("guard.mjs", GUARD.replace('pi.on("tool_call"', 'pi.on("session_compact"'))
async def test_a_tool_that_comes_first_waits_for_it(pi_session, script, started):
    script.turn(steps.tool_call("shout")).turn(steps.text("done"))
    await pi_session.prompt("Go")

    assert script.requests[1].tool_results[-1].text == "LOUD"
    assert started.read_text() == "x"


@pytest.mark.extension("guard.mjs", GUARD)
async def test_a_command_that_comes_first_waits_for_it(pi_session, fake_ui, started):
    await pi_session.prompt("/greet Ada")

    assert [notice.message for notice in fake_ui.notices] == ["Hello Ada"]
    assert started.read_text() == "x"


@pytest.mark.extension("guard.mjs", GUARD)
async def test_a_session_that_asks_nothing_of_it_does_not_start_it(pi_session, started):
    await pi_session.dispose()

    assert not started.exists()
