"""Servers over the life of sessions: when they are started, what changes between prompts, what survives."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

import pi_codemode
import pi_mcp
from pi_mcp.link import link_of
from pi_testing import text, tool_call

pytestmark = [pytest.mark.pi(plugins={"mcp": pi_mcp}), pytest.mark.slow]  # each starts programs that take seconds
trusted = pytest.mark.pi(plugins={"mcp": pi_mcp}, trusted=True)


async def test_known_tools_are_offered_without_a_process_and_the_first_call_starts_one(
    own_sidecar, started, session_with, script, fault, result_of
) -> None:
    first = await started({"fault": fault()})
    script.turn(text("ok"))
    await first.prompt("learn the tools")
    link = link_of(first.settings.agent_dir)
    await first.dispose()

    second = await started()
    before = link.pid
    result = await result_of(second, script, "mcp__fault__echo", text="now")

    assert before is None
    assert "mcp__fault__echo" in script.requests[1].tools
    assert result.text == "now"


@pytest.mark.slow
async def test_a_sidecar_that_was_killed_is_started_again_once(
    own_sidecar, started, script, fake_ui, fault, result_of
) -> None:
    session = await started({"fault": fault()})
    await result_of(session, script, "mcp__fault__echo", text="one")
    link = link_of(session.settings.agent_dir)

    for expected in ("two", "ended twice"):
        ended = asyncio.create_task(link.ended())
        os.kill(link.pid or 0, signal.SIGKILL)
        await ended
        result = await result_of(session, script, "mcp__fault__echo", text="two")
        assert expected in result.text
    await session.prompt("/mcp reconnect fault")

    assert (await result_of(session, script, "mcp__fault__echo", text="three")).text == "three"


async def test_what_a_server_adds_is_offered_in_the_next_turn_and_what_it_withdraws_until_the_next_prompt(
    started, script, fault, result_of
) -> None:
    session = await started({"fault": fault()})
    script.turn(tool_call("mcp__fault__become")).turn(tool_call("mcp__fault__become")).turn(text("ok"))
    await session.prompt("go")

    await result_of(session, script, "mcp__fault__echo", text="here")
    during, after = ([*script.requests[number].tools] for number in (2, 3))

    assert ("mcp__fault__fresh" in during, "mcp__fault__look" in during) == (True, True)
    assert ("mcp__fault__fresh" in after, "mcp__fault__look" in after) == (True, False)


async def test_a_tool_that_a_call_unlocks_is_offered_in_the_next_turn(started, script, fault) -> None:
    session = await started({"fault": fault()})
    script.turn(tool_call("mcp__fault__unlock")).turn(tool_call("mcp__fault__look")).turn(text("ok"))
    await session.prompt("go")
    first, *others = (["mcp__fault__unlocked" in request.tools] for request in script.requests)

    assert (first, others) == ([False], [[True], [True]])


async def _run_once(started, script, mode: str = "print") -> list[str]:
    """Run a session of one prompt, as ``pi -p`` does, and return the tools that the model was offered."""
    session = await started(mode=mode)
    script.turn(text("ok"))
    await session.prompt("go")
    await session.dispose()
    return [each.removeprefix("mcp__fault__") for each in script.requests[-1].tools if each.startswith("mcp__fault__")]


@pytest.fixture
def listed(tmp_path, pi_host, fault, monkeypatch):
    """Return a function that lets a server of the user's, which is configured, offer tools of these names."""
    monkeypatch.setattr("pi_mcp.hub.LAST_HOLD", 60.0)  # on a busy computer, a connection takes longer
    agent_dir = pi_host.settings.agent_dir
    program = tmp_path / "server.py"
    source = Path(fault()["args"][0]).read_text()
    program.write_text(source)
    entry = {**fault(), "args": [str(program), "file"]}
    (agent_dir / "mcp.json").write_text(json.dumps({"mcpServers": {"fault": entry}}))

    def offer(*names: str, of_another_program: bool = False) -> None:
        (tmp_path / "tools.json").write_text(json.dumps(names))
        if of_another_program:
            program.write_text(f"{source}\n# {names}\n")

    def age(seconds: float) -> None:
        for file in (agent_dir / "cache" / "mcp").iterdir():
            kept = json.loads(file.read_text())
            file.write_text(
                json.dumps({**kept, **{key: kept[key] - seconds for key in ("time", "tried") & kept.keys()}})
            )

    offer.age = age  # type: ignore[attr-defined]
    return offer


async def test_runs_of_one_prompt_learn_of_another_program_for_the_next_one(
    own_sidecar, started, script, listed
) -> None:
    listed("alpha")
    assert await _run_once(started, script) == ["alpha"]
    listed("alpha", "beta")
    assert await _run_once(started, script) == ["alpha"]  # nothing says that the list is another one
    listed("alpha", "gamma", of_another_program=True)

    assert await _run_once(started, script) == ["alpha"]  # the prompt does not wait
    assert await _run_once(started, script) == ["alpha", "gamma"]


async def test_runs_of_one_prompt_ask_again_after_a_day(own_sidecar, started, script, listed) -> None:
    listed("alpha")
    await _run_once(started, script)
    listed("beta")
    listed.age(86_000)
    assert [await _run_once(started, script) for _ in range(2)] == [["alpha"], ["alpha"]]
    listed.age(500)

    assert [await _run_once(started, script) for _ in range(2)] == [["alpha"], ["beta"]]


async def test_a_call_that_connects_the_server_refreshes_the_cached_list(own_sidecar, started, script, listed) -> None:
    listed("alpha")
    await _run_once(started, script)
    listed("gamma")
    session = await started(mode="print")
    script.turn(tool_call("mcp__fault__alpha")).turn(text("ok"))
    await session.prompt("go")
    await session.dispose()

    assert await _run_once(started, script) == ["gamma"]


async def test_a_server_that_cannot_be_asked_again_is_left_alone_for_an_hour(
    own_sidecar, started, script, listed, tmp_path, fake_ui
) -> None:
    listed("alpha")
    await _run_once(started, script)
    (tmp_path / "tools.json").unlink()
    listed.age(90_000)
    assert await _run_once(started, script) == ["alpha"]
    listed("beta")

    assert [await _run_once(started, script) for _ in range(2)] == [["alpha"], ["alpha"]]
    assert not [each for each in fake_ui.notices if "cannot be connected" in each.message]
    listed.age(3_700)
    assert [await _run_once(started, script) for _ in range(2)] == [["alpha"], ["beta"]]


async def test_a_call_of_a_tool_that_was_withdrawn_during_the_run_says_so(started, script, fault) -> None:
    session = await started({"fault": fault()})
    link = link_of(session.settings.agent_dir)

    async def withdrawn(event: Any) -> None:
        (remote,) = link.remotes.values()
        while event.type == "tool_execution_end" and len(remote.about["tools"]) != 2:  # noqa: ASYNC110 - no event
            await asyncio.sleep(0.02)

    session.subscribe(withdrawn)
    script.turn(tool_call("mcp__fault__become")).turn(tool_call("mcp__fault__look")).turn(text("ok"))
    await session.prompt("go")

    assert "no longer offers 'look'" in script.requests[-1].tool_results[-1].text


async def test_of_a_server_with_too_many_tools_the_first_ones_are_used_and_the_user_is_informed(
    started, script, fake_ui, fault, offered
) -> None:
    session = await started({"fault": fault("crowd", maxTools=40, disabledTools=["fail"], exposure="direct")})
    script.turn(text("ok"))
    await session.prompt("go")
    names = [name for name in offered(script) if name.startswith("mcp__fault__")]

    assert (len(names), "mcp__fault__fail" in names) == (40, False)
    assert [each.message for each in fake_ui.notices if "tools" in each.message] == [
        "MCP: fault has 2,021 tools, of which the first 40 are used; disabledTools or maxTools in its entry change that"
    ]
    await session.prompt("/mcp")
    assert "40 of 2021 tools" in fake_ui.notices[-1].message


async def test_tools_of_a_large_server_are_found_and_loaded(started, script, fault) -> None:
    session = await started({"fault": fault(exposure="deferred", description="For tests")})
    script.turn(tool_call("tool_search", query="repeats text")).turn(tool_call("mcp__fault__echo", text="found"))
    script.turn(text("ok"))

    await session.prompt("go")

    assert "mcp__fault__echo" not in script.requests[0].tools
    assert "- fault (22 tools): For tests" in script.requests[0].system_prompt + script.requests[0].user_text
    assert "mcp__fault__echo" in script.requests[1].tools
    assert script.requests[2].tool_results[-1].text.endswith("instructions.]\nfound")


def in_project(folder: Any, name: str, servers: dict[str, Any]) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps({"mcpServers": servers}))


@trusted
async def test_a_server_of_a_project_is_asked_for_once(started, script, fake_ui, fault, tmp_path, result_of) -> None:
    in_project(tmp_path, ".mcp.json", {"fault": fault()})
    fake_ui.answers(True)

    session = await started()
    result = await result_of(session, script, "mcp__fault__echo", text="yes")
    await session.dispose()
    await started()

    assert result.text == "yes"
    assert len(fake_ui.asked) == 1
    assert "fault_server.py" in str(fake_ui.asked[0])


@trusted
async def test_an_approved_server_is_listed_and_asked_for_again_once_undone(started, fake_ui, fault, tmp_path) -> None:
    in_project(tmp_path, ".mcp.json", {"fault": fault()})
    fake_ui.answers("always", False)
    session = await started()

    [permission] = [each for each in await session.ctx.list_permissions() if each.store == "MCP servers of projects"]
    await session.ctx.remove_permission(permission)
    await session.dispose()
    await started()

    assert permission.what == "fault"
    assert len(fake_ui.asked) == 2


@trusted
async def test_a_refused_server_is_not_started_and_can_be_approved_later(
    started, script, fake_ui, fault, tmp_path, result_of
) -> None:
    in_project(tmp_path, ".pi/mcp.json", {"fault": fault()})
    fake_ui.answers(False)

    session = await started()
    await session.prompt("/mcp")
    await session.prompt("/mcp approve fault")
    result = await result_of(session, script, "mcp__fault__echo", text="after all")

    assert "not approved" in fake_ui.notices[0].message
    assert result.text == "after all"


async def test_nothing_of_an_untrusted_project_is_read_or_run(started, script, fake_ui, fault, tmp_path) -> None:
    in_project(tmp_path, ".mcp.json", {"fault": fault()})
    in_project(tmp_path, ".pi/mcp.json", {"bad": 5})

    session = await started()
    script.turn(text("ok"))
    await session.prompt("go")

    assert not [name for name in script.requests[0].tools if name.startswith("mcp__")]
    assert fake_ui.notices == []


async def test_no_mcp_starts_nothing(own_sidecar, started, script, fault) -> None:
    session = await started({"fault": fault()}, flags={"no-mcp": True})
    script.turn(text("ok"))
    await session.prompt("go")

    assert not [name for name in script.requests[0].tools if name.startswith("mcp__")]
    assert link_of(session.settings.agent_dir).pid is None


async def test_connections_survive_a_new_session_and_a_reload(started, script, fault, result_of) -> None:
    session = await started({"fault": fault()})
    await result_of(session, script, "mcp__fault__echo", text="one")
    link = link_of(session.settings.agent_dir)
    (remote,) = link.remotes.values()

    await session.new_session()
    second = await result_of(session, script, "mcp__fault__echo", text="two")
    await session.reload()
    third = await result_of(session, script, "mcp__fault__echo", text="three")

    assert [second.text, third.text] == ["two", "three"]
    assert [*link.remotes.values()] == [remote]


async def test_the_command_shows_and_switches_servers(started, script, fake_ui, fault, result_of) -> None:
    session = await started({"fault": fault()})
    await result_of(session, script, "mcp__fault__echo", text="one")

    await session.prompt("/mcp show fault")
    await session.prompt("/mcp disable fault")
    script.turn(text("ok"))
    await session.prompt("go")
    await session.prompt("/mcp")

    assert "mcp__fault__echo  direct  Repeats a text" in fake_ui.notices[0].message
    assert not [name for name in script.requests[-1].tools if name.startswith("mcp__")]
    assert "disabled" in fake_ui.notices[-1].message
    assert json.loads((session.settings.agent_dir / "mcp.json").read_text())["mcpServers"]["fault"]["enabled"] is False


async def test_a_wrong_command_is_the_users_mistake_and_no_failure_of_the_plugin(started, fake_ui, fault) -> None:
    session = await started({"fault": fault(enabled=False)})

    await session.prompt("/mcp reconnect fault")
    await session.prompt("/mcp show nothing")

    assert [each.message for each in fake_ui.notices] == [
        "fault is disabled; /mcp enable or /mcp approve comes first.",
        "No MCP server 'nothing' is configured; configured: fault.",
    ]


async def test_a_plugin_brings_a_server(started, script, fault, result_of) -> None:
    def bring(pi: Any) -> None:
        pi.register_mcp_server("brought", fault())

    session = await started(extension_factories=[bring])

    assert (await result_of(session, script, "mcp__brought__echo", text="hello")).text == "hello"


async def test_a_server_that_a_plugin_registers_later_comes_with_the_next_prompt(
    started, script, fault, result_of
) -> None:
    plugins: list[Any] = []
    session = await started(extension_factories=[plugins.append])
    script.turn(text("ok"))
    await session.prompt("go")

    plugins[0].register_mcp_server("late", fault())
    await asyncio.sleep(0)
    while not link_of(session.settings.agent_dir).remotes:  # noqa: ASYNC110 - registering does not wait
        await asyncio.sleep(0.02)

    assert (await result_of(session, script, "mcp__late__echo", text="hello")).text == "hello"


@trusted
async def test_a_change_while_the_user_is_asked_asks_only_once(started, fake_ui, fault, tmp_path) -> None:
    in_project(tmp_path, ".mcp.json", {"fault": fault()})
    fake_ui.never_answers()
    plugins: list[Any] = []
    starting = asyncio.create_task(started(extension_factories=[plugins.append]))
    await fake_ui.opened()

    plugins[0].register_mcp_server("late", fault())
    await asyncio.sleep(0.1)  # what is registered is reported by a task
    fake_ui.release(False)
    session = await starting
    while len(link_of(session.settings.agent_dir).remotes) != 1:  # noqa: ASYNC110 - as above
        await asyncio.sleep(0.02)

    assert len(fake_ui.asked) == 1


async def test_a_server_that_never_answers_holds_the_first_prompt_only_for_a_while(
    started, script, fake_ui, fault, monkeypatch
) -> None:
    monkeypatch.setattr("pi_mcp.hub.HOLD", 0.2)
    session = await started({"silent": fault("silent")})
    script.turn(text("ok"))

    await session.prompt("go")

    assert len(script.requests) == 1
    assert [each.message for each in fake_ui.notices] == ["MCP: silent did not answer within 0.2 s; continuing without"]


async def test_the_notice_of_a_server_that_failed_quotes_its_error(started, script, fake_ui) -> None:
    printed = r"error: no certificate\nhint: another flag"
    program = f"import sys; sys.stderr.write('{printed}'); sys.exit(2)"
    session = await started({"gone": {"command": sys.executable, "args": ["-c", program]}})
    script.turn(text("ok"))

    await session.prompt("go")

    (notice,) = fake_ui.notices
    assert notice.message == (
        "MCP: gone cannot be connected: it ended with code 2. It printed: error: no certificate. "
        "See /mcp, and pi help mcp."
    )


async def test_an_error_above_a_long_trace_is_quoted(started, script, fake_ui) -> None:
    program = "import sys; print('Error: no module', *['at x'] * 30, sep='\\n', file=sys.stderr); sys.exit(1)"
    session = await started({"gone": {"command": sys.executable, "args": ["-c", program]}})
    script.turn(text("ok"))

    await session.prompt("go")

    (notice,) = fake_ui.notices
    assert "It printed: Error: no module." in notice.message


async def test_a_program_gets_the_way_to_the_network_and_no_keys(started, script, fake_ui, monkeypatch) -> None:
    for name in ("HTTPS_PROXY", "SSL_CERT_FILE", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, f"/of/{name}")
    program = (
        "import os, sys; names = ('HTTPS_PROXY', 'SSL_CERT_FILE', 'ANTHROPIC_API_KEY');"
        "sys.exit(' '.join(os.environ.get(each, 'none') for each in names))"
    )
    session = await started({"gone": {"command": sys.executable, "args": ["-c", program]}})
    script.turn(text("ok"))

    await session.prompt("go")

    (notice,) = fake_ui.notices
    assert "It printed: /of/HTTPS_PROXY /of/SSL_CERT_FILE none." in notice.message


@pytest.mark.pi(plugins={"mcp": pi_mcp, "codemode": pi_codemode})
@pytest.mark.parametrize("exposure", ["code", "codemode"])
async def test_a_server_can_leave_its_tools_to_scripts(started, script, fault, result_of, exposure) -> None:
    session = await started({"fault": fault(exposure=exposure)})
    result = await result_of(session, script, "codemode", code="(await mcp.fault.echo(text='now')).splitlines()[-1]")

    offered = script.requests[0].tools
    assert "codemode" in offered
    assert [name for name in offered if name.startswith("mcp__")] == []
    assert "- mcp.fault.echo(" in script.requests[0].system_prompt
    assert result.text == "now"
