"""What is known of programs without starting them, and guards that cannot be asked any more."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

import pytest

import pi_isolated
from pi_core import PluginHost, Settings, create_agent_session
from pi_core.host.extensions import LocalExtensions
from pi_testing import ScriptedProvider, steps
from pi_testing.stand_ins import stand_in

if TYPE_CHECKING:
    from pathlib import Path

GUARD = """
with open("starts", "a") as file:
    file.write("x")
ready(hooks={"tool_call": {"tools": ["bash"]}}, tools=["shout"])
for message in messages():
    if message["type"] == "hook":
        answer(message, {"block": True, "reason": "not here"})
"""


class Runs:
    """Sessions one after another, each as in a process of its own."""

    def __init__(self, agent_dir: Path, cwd: Path, folder: Path) -> None:
        self.agent_dir, self.cwd, self.folder = agent_dir, cwd, folder
        self.problems: list[str] = []

    async def __call__(self, tool: str = "bash", *, disabled: tuple[str, ...] = ()) -> str:
        """Let the model call a tool in a new session; return what it is told, or why no request was made."""
        host = PluginHost(Settings.in_memory({}, agent_dir=self.agent_dir), installed=False, disabled=disabled)
        if "isolated" not in disabled:
            host.add(pi_isolated, "isolated")
        LocalExtensions(host, cwd=self.cwd, given=[self.folder], discover=False).load()
        self.problems = [each.message for each in host.problems]
        script = ScriptedProvider()
        script.turn(steps.tool_call(tool, command="ls")).turn(steps.text("done"))
        host.add(script, "script")
        session = create_agent_session(
            host=host, cwd=self.cwd, model=script.model, custom_tools=[stand_in("bash"), stand_in("read")]
        )
        await session.start()
        try:
            answer = await session.prompt("Go")
        finally:
            await session.dispose()
        if not script.requests:
            return answer.error_message
        return script.requests[-1].tool_results[-1].text

    @property
    def starts(self) -> int:
        """How often the program was started."""
        file = self.folder / "starts"
        return len(file.read_text()) if file.exists() else 0


@pytest.fixture
def run(pi_agent_dir: Path, tmp_path: Path, write_program) -> Runs:
    """Sessions with one program, ``guard``."""
    (tmp_path / "work").mkdir()
    return Runs(pi_agent_dir, tmp_path / "work", write_program(tmp_path / "guard", GUARD))


async def test_a_known_program_is_started_when_it_is_needed(run):
    os.utime(write_file(run.folder / "starts", ""), (1, 1))
    await run("read")
    assert run.starts == 1  # to learn what it implements

    known = json.loads(next((run.agent_dir / "cache" / "programs").iterdir()).read_text())
    freeze(run, known)
    await run("read")
    assert run.starts == 1

    assert await run("bash") == "not here"
    assert run.starts == 2


def write_file(file: Path, text: str) -> Path:
    """Write a file and return it."""
    file.write_text(text)
    return file


def freeze(run: Runs, known: dict) -> None:
    """Note the files as they are: the program writes one itself."""
    file = next((run.agent_dir / "cache" / "programs").iterdir())
    marks = [[each.name, each.stat().st_mtime_ns, each.stat().st_size] for each in sorted(run.folder.iterdir())]
    file.write_text(json.dumps({**known, "marks": marks}))


BROKEN = {
    "its program is gone": lambda folder: (folder / "plugin.py").unlink(),
    "its command is gone": lambda folder: change(folder, command=["/no/such/program"]),
    "its manifest is not JSON": lambda folder: (folder / "pi_plugin.json").write_text("{"),
    "its manifest has no contract": lambda folder: change(folder, contract=None),
    "it is for the next contract": lambda folder: change(folder, contract="2.0"),
    "it is for a later contract": lambda folder: change(folder, contract="1.999"),
    "it says another contract": lambda folder: rewrite(folder, "ready(contract='7.0')"),
    "it says nothing": lambda folder: rewrite(folder, "sys.exit()"),
    "it begins with something else": lambda folder: rewrite(folder, "send(type='hello')"),
    "it implements an unknown hook": lambda folder: rewrite(folder, "ready(hooks={'tool_cal': {}})"),
    "it has an unknown filter": lambda folder: rewrite(folder, "ready(hooks={'tool_call': {'tool': 'bash'}})"),
}


def rewrite(folder: Path, source: str) -> None:
    """Replace what a program does."""
    file = folder / "plugin.py"
    file.write_text(file.read_text().partition("with open")[0] + source)


def change(folder: Path, **fields: object) -> None:
    """Change fields of a manifest."""
    file = folder / "pi_plugin.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | fields))


@pytest.mark.parametrize("how", BROKEN)
async def test_a_guard_that_cannot_be_asked_any_more_refuses(run, how):
    assert await run() == "not here"

    BROKEN[how](run.folder)

    assert "Extension failed, blocking execution" in await run()


async def test_a_guard_without_what_runs_it_refuses_by_what_is_known(run):
    assert await run() == "not here"

    said = await run(disabled=("isolated",))

    assert "Extension failed, blocking execution" in said
    assert "The plugin 'isolated' can (pip install pluggypi-isolated)" in run.problems[0]


async def test_a_disabled_guard_does_not_refuse(run):
    assert await run() == "not here"

    assert "Extension failed" not in await run(disabled=("guard",))


GUARDED = "before_model_request, tool_call, user_bash, child_environment"


@pytest.mark.parametrize("how", BROKEN)
@pytest.mark.parametrize("grants", [None, {"hooks": True}, {"hooks": ["tool_call"]}], ids=str)
async def test_a_program_that_never_started_refuses_what_it_may_guard(run, how, grants):
    change(run.folder, grants=grants)
    BROKEN[how](run.folder)

    said = await run()

    assert "guard" in said
    assert "blocking execution" in said or "refused" in said or "cannot be used" in said
    assert "Extension failed" not in await run(disabled=("guard",))


@pytest.mark.parametrize("grants", [{"hooks": ["turn_end"]}, {"hooks": False}, {"tools": ["shout"]}], ids=str)
async def test_a_program_that_was_granted_no_guarding_hook_refuses_nothing(run, grants):
    change(run.folder, grants=grants, contract="2.0")

    assert (await run()).startswith("bash was called")
    assert run.problems == ["not loaded: it is for contract 2.0, and this pi has contract 1.1. Update pi"]


async def test_a_program_for_another_contract_refuses_with_what_to_do(run):
    change(run.folder, contract="2.0")

    await run()

    assert run.problems[0].startswith("it is for contract 2.0, and this pi has contract 1.1. Update pi")
    assert run.problems[0].endswith(f"Until then it refuses in {GUARDED}")


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [("name", "a b", "name must be"), ("command", "node x", "command must be"), ("contract", 1.1, "contract must be")],
)
async def test_mistakes_in_a_manifest_are_explained(run, field, value, message):
    change(run.folder, **{field: value})

    await run()

    assert message in run.problems[0]
    assert repr(value) in run.problems[0]


async def test_programs_are_found_in_extension_folders(run, pi_agent_dir, write_program):
    write_program(pi_agent_dir / "extensions" / "found", "ready(tools=['found'])")
    host = PluginHost(Settings.in_memory({}, agent_dir=pi_agent_dir), installed=False)
    host.add(pi_isolated, "isolated")

    LocalExtensions(host, cwd=run.cwd).load()

    assert host.added() == ["isolated", "found"]
    assert sys.executable in (pi_agent_dir / "extensions" / "found" / "pi_plugin.json").read_text()
