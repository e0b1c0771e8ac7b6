"""What the model reads after an edit, with ruff."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from pi_hookspecs import PiError
from pi_testing import FakeWorkspace, text, tool_call

pytestmark = pytest.mark.pi(settings={"diagnostics": {"timeout": 60}})  # ruff may take its time

README = (Path(__file__).parents[1] / "README.md").read_text()
TIDE = "def tide(hour):\n    height = 3\n    return hour % 12 + height\n"


@pytest.fixture
def tide(tmp_path):
    file = tmp_path / "tide.py"
    file.write_text(TIDE)
    return file


class ThroughEditor(FakeWorkspace):
    async def write_file(self, path, content):
        Path(path).write_bytes(content)


async def test_the_model_reads_the_error_that_its_edit_made_as_in_the_readme(edit, tide):
    result = await edit("tide.py", "def tide(hour)", "def tide(hours)")

    assert result in re.findall(r"^```text\n(.*?)\n```$", README, re.MULTILINE | re.DOTALL)


async def test_an_edit_without_new_errors_has_the_result_of_the_tool_alone(edit, tide, launcher):
    result = await edit("tide.py", "height = 3", "height = 4")

    assert result == "Successfully replaced 1 block(s) in tide.py."
    assert [request.purpose for request in launcher.requests] == ["lint"]


async def test_an_error_that_was_there_before_is_not_reported(edit, tide):
    tide.write_text("print(missing)\n" + TIDE)

    assert "diagnostics" not in await edit("tide.py", "print", "\n\nprint")
    assert "1 new error in tide.py:\n6:19 Undefined name `twelve`" in await edit("tide.py", "12", "twelve")


async def test_a_new_file_is_checked(result_of):
    result = await result_of("write", path="new.py", content="print(x)\n")

    assert result.endswith("\n[diagnostics] 1 new error in new.py:\n1:7 Undefined name `x` (ruff F821)")


async def test_several_edits_of_a_file_in_one_turn_are_checked_once_after_the_last(pi_session, script, tide, launcher):
    script.turn(
        tool_call("edit", path="tide.py", edits=[{"oldText": "hour)", "newText": "hours)"}]),
        tool_call("edit", path="./tide.py", edits=[{"oldText": "hour %", "newText": "hours %"}]),
    ).turn(text("ok"))

    await pi_session.prompt("go")

    assert not any("diagnostics" in result.text for result in script.requests[-1].tool_results)
    assert len(launcher.requests) == 1


async def test_a_refused_edit_does_not_keep_the_others_of_its_turn_from_being_checked(pi_session, script, tide):
    script.turn(
        tool_call("edit", path="tide.py", edits=[{"oldText": "hour)", "newText": "hours)"}]),
        tool_call("edit", path="tide.py", edits=[{"oldText": "height = 3", "newText": "forbidden = 3"}]),
    ).turn(text("ok"))

    await pi_session.prompt("go")

    first, second = script.requests[-1].tool_results
    assert "1 new error" in first.text
    assert second.text == "no"


async def test_a_failed_edit_is_not_checked(edit, tide, launcher):
    result = await edit("tide.py", "no such text", "x")

    assert "diagnostics" not in result
    assert launcher.requests == []


async def test_a_broken_file_does_not_fill_the_context(result_of):
    result = await result_of("write", path="many.py", content="\n".join(f"print(x{each})" for each in range(50)))

    lines = result.splitlines()
    assert lines[1] == "[diagnostics] 50 new errors in many.py:"
    assert lines[-1] == "... and 30 more"
    assert len(lines) == 23


async def test_what_is_no_text_and_what_is_too_large_is_not_checked(result_of, launcher, tmp_path):
    (tmp_path / "latin.py").write_bytes(b"# \xe4\n")

    assert "diagnostics" not in await result_of("write", path="latin.py", content="print(x)")
    assert "diagnostics" not in await result_of("write", path="big.py", content="print(x)\n" + "#" * (1 << 20))
    assert launcher.requests == []


@pytest.mark.parametrize("path", ["file://[", "a\0b.py", ""])
async def test_a_path_that_makes_no_sense_is_left_to_the_tool(result_of, pi_session, recorder, path, fake_ui, launcher):
    pi_session.subscribe(recorder)

    await result_of("write", path=path, content="print(x)\n")

    assert "extension_error" not in [event.type for event in recorder.events]
    assert fake_ui.notices == []
    assert launcher.requests == []


async def test_a_failure_before_an_edit_does_not_refuse_it(result_of, monkeypatch, fake_ui, tmp_path):
    def fail(*_):
        raise RuntimeError("no programs today")

    monkeypatch.setattr("pi_diagnostics.checks.wanted", fail)

    await result_of("write", path="a.py", content="print(x)\n")

    assert (tmp_path / "a.py").read_text() == "print(x)\n"
    assert [each.message for each in fake_ui.notices] == ["An edit is not checked for errors: no programs today"]


@pytest.mark.parametrize("services", [[ThroughEditor()]])
async def test_files_that_a_plugin_redirects_are_not_checked(result_of, tmp_path):
    assert "diagnostics" not in await result_of("write", path="a.py", content="print(x)\n")
    assert (tmp_path / "a.py").exists()


async def test_an_abort_while_a_program_runs_leaves_nothing_behind(
    result_of, pi_session, script, programs, is_gone, tmp_path
):
    (programs / "ruff").unlink()
    (programs / "ruff").write_text("#!/bin/sh\necho $$ > started\nexec /bin/sleep 1000\n")
    (programs / "ruff").chmod(0o755)
    script.turn(tool_call("write", path="a.py", content="print(x)\n"))
    prompt = asyncio.create_task(pi_session.prompt("go"))
    started = tmp_path / "started"
    while not started.exists() or not started.read_text():  # noqa: ASYNC110 - it is the program that is waited for
        await asyncio.sleep(0.01)

    await pi_session.abort()
    await prompt

    assert await is_gone(int(started.read_text()))


async def test_files_without_a_program_are_left_alone(result_of, launcher):
    assert "diagnostics" not in await result_of("write", path="notes.md", content="x")
    assert launcher.requests == []


@pytest.mark.pi(settings={"diagnostics": {"enabled": False}})
async def test_the_setting_switches_it_off(result_of, pi_session, fake_ui, launcher):
    assert "diagnostics" not in await result_of("write", path="new.py", content="print(x)")
    assert launcher.requests == []

    await pi_session.prompt("/diagnostics")

    assert [each.message for each in fake_ui.notices] == [
        "Diagnostics are switched off by the setting diagnostics.enabled."
    ]


async def test_a_launcher_that_refuses_is_obeyed_and_reported_once(result_of, launcher, fake_ui):
    def refuse(request):
        raise PiError("No programs here")

    launcher.answer = refuse

    for name in ("a.py", "b.py"):
        assert "diagnostics" not in await result_of("write", path=name, content="print(x)\n")

    (notice,) = fake_ui.notices
    assert notice.message.startswith("ruff is left out of this session's diagnostics: ")
    assert "No programs here" in notice.message
    assert len(launcher.requests) == 1


@pytest.mark.parametrize(
    ("script_text", "reason"),
    [
        ("exit 2", "it ended with exit code 2"),
        ("echo nonsense", "it printed something other than its errors as JSON"),
        ("echo '[{}]'", "it printed something other than its errors as JSON"),
    ],
)
async def test_a_linter_with_faults_is_left_out(result_of, programs, fake_ui, script_text, reason):
    (programs / "ruff").unlink()
    (programs / "ruff").write_text(f"#!/bin/sh\n{script_text}\n")
    (programs / "ruff").chmod(0o755)

    for name in ("a.py", "b.py"):
        assert "diagnostics" not in await result_of("write", path=name, content="print(x)\n")

    assert [each.message for each in fake_ui.notices] == [
        f"ruff is left out of this session's diagnostics: {reason}. See /diagnostics."
    ]


async def test_the_command_lists_what_is_used_and_what_is_not(result_of, pi_session, fake_ui, programs):
    await result_of("write", path="a.py", content="")

    await pi_session.prompt("/diagnostics")

    used, absent = fake_ui.notices[0].message.splitlines()
    assert used == f"ruff: ready, {programs / 'ruff'}"
    assert absent.startswith("Not installed: ")
    assert "clangd" in absent
