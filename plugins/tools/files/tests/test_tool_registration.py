"""What the plugin registers, and what that costs."""

from __future__ import annotations

import subprocess
import sys

import pytest

import pi_tools
from pi_hookspecs import UnknownName
from pi_tools import _HOMES

ACTIVE = ["read", "bash", "edit", "write"]


def test_eight_tools_are_registered_and_five_are_active():
    tools = pi_tools.register_tools()

    assert [tool.name for tool in tools] == [*ACTIVE, "grep", "find", "ls", "process"]
    assert [tool.name for tool in tools if tool.default_active] == [*ACTIVE, "process"]
    assert all(tool.prompt_snippet for tool in tools)


def test_the_active_tools_prefer_calls_that_are_held_to_their_schema():
    tools = {tool.name: tool for tool in pi_tools.register_tools()}

    assert [name for name, tool in tools.items() if tool.constrained_sampling == "prefer"] == ACTIVE


def test_registering_loads_nothing_that_only_calls_need():
    heavy = ["PIL", "psutil", "pyuca", "charset_normalizer", "difflib", "tempfile", "pi_tools.options"]
    program = f"""
import sys, pi_tools
pi_tools.register_tools()
print([name for name in {heavy!r} if name in sys.modules])
"""

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


def test_every_public_name_is_in_the_module_of_the_table():
    for module, names in _HOMES.items():
        home = __import__(f"pi_tools.{module}", fromlist=["x"])
        assert set(names.split()) <= set(home.__all__)
    assert all(getattr(pi_tools, name) for name in pi_tools.__all__)


def test_groups_hold_the_tools_of_the_decisions(tmp_path):
    assert [tool.name for tool in pi_tools.create_coding_tools(tmp_path)] == ACTIVE
    assert [tool.name for tool in pi_tools.create_read_only_tools(tmp_path)] == ["read", "grep", "find", "ls"]
    assert list(pi_tools.create_all_tools(str(tmp_path))) == [*ACTIVE, "grep", "find", "ls"]
    assert [tool.name for tool in pi_tools.create_coding_tool_definitions(tmp_path)] == ACTIVE


def test_one_tool_by_name(tmp_path):
    assert pi_tools.create_tool_definition("grep", tmp_path).name == "grep"
    with pytest.raises(UnknownName, match="Did you mean grep"):
        pi_tools.create_tool_definition("grepp", tmp_path)


async def test_a_tool_made_for_a_directory_works_there(call, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.txt").write_text("there")

    result = await call("read", tool=pi_tools.create_read_tool(other), path="a.txt")

    assert result.content[0].text == "there"


async def test_options_reach_the_tools_of_a_group(call, tmp_path):
    options = pi_tools.ToolsOptions(bash=pi_tools.BashOptions(command_prefix="x=5"))
    bash = pi_tools.create_all_tools(tmp_path, options)["bash"]

    result = await call("bash", tool=bash, command="echo $x")

    assert result.content[0].text == "5\n"


def test_read_only_tools_are_marked():
    states = {tool.name: tool.annotations for tool in pi_tools.register_tools()}

    assert sorted(name for name, each in states.items() if each.read_only) == ["find", "grep", "ls", "read"]
    assert sorted(name for name, each in states.items() if each.destructive) == ["bash", "edit", "write"]
