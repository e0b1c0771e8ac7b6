"""The slowest call of a prompt is reported once, without secrets, from a limit on."""

from __future__ import annotations

import time

import pytest

from pi_hookspecs import hookimpl
from pi_testing import text, tool_call

FROM_50 = {"slowestHook": {"limit": 50}}


class Slow:
    @hookimpl
    def tool_call(self, event):
        time.sleep(0.5)  # the observer must not count the time of another hook


@pytest.mark.pi(plugins={"slow": Slow()}, settings=FROM_50)
async def test_the_slowest_hook_is_reported(pi_session, script, fake_ui, fake_tools):
    script.turn(tool_call("bash", command="ls", call_id="call-7")).turn(text("Done."))

    await pi_session.prompt("look around")

    (notice,) = fake_ui.notices
    assert notice.level == "warning"
    assert notice.message.startswith("tool_call of slow took ")
    assert notice.message.endswith(" ms (ok, about call-7)")


@pytest.mark.pi(plugins={"slow": Slow()}, settings=FROM_50)
async def test_a_known_secret_is_redacted(pi_session, script, fake_ui, fake_tools):
    await pi_session.start()
    pi_session.ctx.secrets.add("secret-7")
    script.turn(tool_call("bash", command="ls", call_id="call-secret-7")).turn(text("Done."))

    await pi_session.prompt("look around")

    assert fake_ui.notices[-1].message.endswith("about call-[redacted])")


@pytest.mark.pi(settings={"slowestHook": {"limit": 3_600_000}})
async def test_the_command_changes_the_limit(pi_session, script, fake_ui):
    script.turn(text("Hello.")).turn(text("Hello."))

    await pi_session.prompt("Hi")
    await pi_session.prompt("/slow-limit 0")
    await pi_session.prompt("Hi again")

    messages = [notice.message for notice in fake_ui.notices]
    assert messages[0] == "Hooks are reported from 0 ms on"
    assert " took " in messages[1]
    assert pi_session.settings.get("slowestHook.limit") == 0


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("soon", "/slow-limit: 'soon' is not a number of milliseconds"),
        ("-1", "/slow-limit: Setting 'slowestHook.limit' "),
    ],
)
async def test_a_wrong_limit_is_refused(pi_session, recorder, value, problem):
    pi_session.subscribe(recorder, "extension_error")

    await pi_session.prompt(f"/slow-limit {value}")

    assert recorder.events[0].error.startswith(problem)
    assert pi_session.settings.get("slowestHook.limit") is None
