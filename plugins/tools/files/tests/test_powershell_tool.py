"""``powershell`` runs commands where there is a PowerShell, and is not there anywhere else; a program plays it here."""

from __future__ import annotations

import os
import sys

import pytest

from pi_testing import text, tool_call
from pi_tools.factories import session_tools
from pi_tools.powershell import powershell_tool

PWSH = """\
#!/bin/sh
for last; do :; done
printf 'options: %s %s %s %s\\n' "$1" "$2" "$3" "$4"
printf 'command: %s\\n' "$last"
case "$last" in *fail*) exit 3;; *wait*) exec sleep 60;; esac
"""

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="a shell script plays PowerShell"),
    pytest.mark.pi(tools=[powershell_tool()]),
]


@pytest.fixture
def pwsh(tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.mktemp("programs")
    program = folder / "pwsh"
    program.write_text(PWSH)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return program


async def result(session, script, **arguments):
    script.turn(tool_call("powershell", **arguments)).turn(text("Done."))
    await session.prompt("go")
    return script.requests[-1].tool_results[0]


async def test_a_command_is_run_without_profile_and_input_and_its_output_returned(pwsh, pi_session, script):
    pi_session.settings.set("shellCommandPrefix", "shopt -s expand_aliases")

    done = await result(pi_session, script, command="Get-Date")

    assert "options: -NoLogo -NoProfile -NonInteractive -Command\n" in done.text
    assert "OutputEncoding" in done.text
    assert done.text.endswith("\nGet-Date\n")
    assert "shopt" not in done.text
    assert not done.is_error


async def test_failures_and_timeouts_are_errors(pwsh, pi_session, script):
    failed = await result(pi_session, script, command="fail")
    late = await result(pi_session, script, command="wait", timeout=0.5)

    assert failed.is_error
    assert failed.text.endswith("Command exited with code 3")
    assert late.is_error
    assert "Command timed out after 0.5 seconds" in late.text


def test_it_is_offered_when_the_user_chooses_it(pwsh):
    tools = {tool.name: tool for tool in session_tools()}

    assert not tools["powershell"].default_active


def test_without_powershell_there_is_no_such_tool(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))

    assert "powershell" not in [tool.name for tool in session_tools()]
