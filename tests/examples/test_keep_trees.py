"""The example that a newcomer reads first: short, installable, and it does what the README says."""

from __future__ import annotations

import importlib.util
import tomllib
from pathlib import Path

import pytest

from pi_testing import text, tool_call

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "keep-trees"
SOURCE = EXAMPLE / "src" / "pi_keep_trees" / "__init__.py"


@pytest.fixture
def pi_plugins():
    """The plugin from its folder, as nothing installs it here."""
    spec = importlib.util.spec_from_file_location("pi_keep_trees", SOURCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {"keep-trees": module}


async def test_reason_of_a_refusal_reaches_the_model(pi_session, script, fake_tools):
    script.turn(tool_call("bash", command="rm -rf build")).turn(text("I will not."))

    await pi_session.prompt("clean up")

    (result,) = script.requests[1].tool_results
    assert result.is_error
    assert result.text == "Deleting trees is not allowed here; move them to ./trash instead."
    assert fake_tools["bash"].calls == []


async def test_other_commands_and_other_tools_pass(pi_session, script, fake_tools):
    script.turn(tool_call("bash", command="ls"), tool_call("read", path="rm -rf")).turn(text("Done."))

    await pi_session.prompt("look around")

    assert [fake_tools[name].calls for name in ("bash", "read")] == [[{"command": "ls"}], [{"path": "rm -rf"}]]


def test_readme_shows_the_plugin_as_it_is():
    source = SOURCE.read_text()

    assert len(source.splitlines()) <= 15
    assert f"```python\n{source}```" in (ROOT / "README.md").read_text()


def test_example_is_installed_like_a_strangers_plugin():
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]

    assert project["entry-points"]["pi"] == {"keep-trees": "pi_keep_trees"}
    assert {each.partition(">=")[0] for each in project["dependencies"]} == {"pluggypi-hookspecs"}
