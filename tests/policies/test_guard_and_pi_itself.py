"""The guard with pi's real tools: the model cannot switch it off through a shell command that starts pi."""

from __future__ import annotations

import json
import sys

import pytest

import pi_guardrails
import pi_memory
import pi_tools
from pi_testing import text, tool_call

ON = {"guardrails": {"enabled": True}}

pytestmark = pytest.mark.pi(plugins={"guardrails": pi_guardrails, "tools": pi_tools, "memory": pi_memory}, settings=ON)


@pytest.fixture
def settings_file(pi_agent_dir, monkeypatch):
    """The user's settings, which a pi that is started in the shell reads and writes."""
    monkeypatch.setenv("PATH", f"{sys.prefix}/bin", prepend=":")
    file = pi_agent_dir / "settings.json"
    file.write_text(json.dumps(ON), encoding="utf-8")
    return file


async def run(session, script, command):
    script.turn(tool_call("bash", command=command)).turn(text("ok"))
    await session.prompt("please")
    return next(message.content[0].text for message in session.messages if message.role == "toolResult")


@pytest.mark.parametrize("program", ["pi", f"{sys.executable} -m pi_cli", "env -- pi", "sh -c 'pi \"$@\"' pi"])
async def test_the_model_cannot_switch_the_guard_off(pi_session, script, settings_file, program):
    pi_session.has_ui = False

    output = await run(pi_session, script, f"{program} config set guardrails.enabled false")

    assert output.startswith("Guardrails refused this call")
    assert json.loads(settings_file.read_text(encoding="utf-8")) == ON


async def test_the_model_may_ask_pi_what_it_is(pi_session, script, settings_file):
    pi_session.has_ui = False

    output = await run(pi_session, script, "pi --version")

    assert "refused" not in output
    assert output.strip()


async def test_a_script_under_the_name_of_the_standard_input_is_stopped(pi_session, script, tmp_path):
    pi_session.has_ui = False
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "leaf").write_text("x", encoding="utf-8")

    output = await run(pi_session, script, "bash /dev/stdin <<< 'rm -rf tree'")

    assert output.startswith("Guardrails refused this call")
    assert (tmp_path / "tree" / "leaf").exists()


async def test_arguments_behind_a_redirection_are_seen(pi_session, script, tmp_path):
    pi_session.has_ui = False
    (tmp_path / "tree").mkdir()

    output = await run(pi_session, script, "rm < /dev/null -rf tree")

    assert output.startswith("Guardrails refused this call")
    assert (tmp_path / "tree").exists()


@pytest.mark.parametrize("command", ["echo '- run it' >> MEMORY.md", "tee sub/MEMORY.md <<< x", "mv a.md memory.md"])
async def test_the_memory_of_later_sessions_is_not_written_by_commands(pi_session, script, command):
    pi_session.has_ui = False

    output = await run(pi_session, script, command)

    assert "(runs-later)" in output
