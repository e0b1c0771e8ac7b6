"""An extension that cannot be loaded, and may hold a guard, refuses what the guard would decide about.

A table: how it cannot be loaded, by what its source shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pi_core import PluginHost, create_agent_session
from pi_core.host.extensions import LocalExtensions
from pi_core.settings import Settings
from pi_testing import ScriptedProvider, steps
from pi_testing.stand_ins import stand_in

if TYPE_CHECKING:
    from pathlib import Path

HOOK = "\n@hookimpl\ndef {}(event):\n    return None\n"
BROKEN = {
    "import error": "import no_such_module\n",
    "missing name": "from pi_hookspecs import no_such_name\n",
    "exception": "raise ValueError('x')\n",
    "exit": "raise SystemExit(3)\n",
    "syntax": "def broken(:\n",
    "requirement": '# /// script\n# dependencies = ["no such requirement !"]\n# ///\n',
}


@pytest.fixture
def run(tmp_path: Path, pi_agent_dir: Path):
    (tmp_path / "work").mkdir()

    async def call(source: str, *disabled: str) -> tuple[str, list[str]]:
        """Let the model call bash with one extension; return what it is told, and the host's problems."""
        file = tmp_path / "guard.py"
        file.write_text(source)
        host = PluginHost(Settings.in_memory({}, agent_dir=pi_agent_dir), installed=False, disabled=disabled)
        LocalExtensions(host, cwd=tmp_path / "work", given=[file], discover=False).load()
        script = ScriptedProvider()
        script.turn(steps.tool_call("bash", command="ls")).turn(steps.text("done"))
        host.add(script, "script")
        session = create_agent_session(
            host=host, cwd=tmp_path / "work", model=script.model, custom_tools=[stand_in("bash")]
        )
        async with session:
            await session.prompt("Go")
        return script.requests[-1].tool_results[-1].text, [each.message for each in host.problems]

    return call


@pytest.mark.parametrize("how", BROKEN)
async def test_an_extension_with_a_guard_that_cannot_be_loaded_refuses_by_name(run, how):
    told, problems = await run(f"from pi_hookspecs import hookimpl\n{BROKEN[how]}{HOOK.format('tool_call')}")

    assert "blocking execution" in told
    assert "guard" in told
    assert "It refuses in tool_call until it is fixed or disabled: --disable guard" in problems[0]


@pytest.mark.parametrize("how", BROKEN)
async def test_an_extension_that_names_no_such_hook_is_only_reported(run, how):
    told, problems = await run(f"from pi_hookspecs import hookimpl\n{BROKEN[how]}{HOOK.format('turn_end')}")

    assert "bash was called" in told
    assert problems[0].startswith("not loaded: ")
    assert "refuses" not in problems[0]


async def test_disabling_it_opens_the_gate(run):
    told, _ = await run(f"import no_such_module\n{HOOK.format('tool_call')}", "guard")

    assert "bash was called" in told


async def test_the_plain_form_of_registering_counts_too(run):
    told, _ = await run("import no_such_module\ndef activate(pi):\n    pi.on('tool_call', lambda event: None)\n")

    assert "blocking execution" in told
