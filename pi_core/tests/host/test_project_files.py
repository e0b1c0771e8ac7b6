"""``ctx.project_files``: one list of names for all guards, filled by the plugins that read the files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pi_core import PluginHost, Settings
from pi_hookspecs import Command, ProjectFile, hookimpl

SEEN = {}


class Reads:
    @hookimpl
    def register_project_files(self):
        return [ProjectFile(".deploys/targets.json")]

    @hookimpl
    def register_commands(self):
        def handler(_args, ctx):
            SEEN["names"] = ctx.project_files()

        return [Command("names", handler=handler)]


@pytest.mark.pi(plugins={"deploys": Reads()})
async def test_a_guard_gets_the_names_of_plugins_with_those_of_pi_and_of_other_programs(pi_session):
    await pi_session.prompt("/names")

    assert {".deploys/targets.json", ".pi", ".agents", ".npmrc", ".envrc"} <= set(SEEN["names"])


def test_installed_plugins_are_asked_though_their_files_do_not_exist(tmp_path):
    names = set(PluginHost(Settings.in_memory({}, tmp_path)).project_files())

    assert {"AGENTS.override.md", "AGENTS.MD", "CLAUDE.MD", ".claude/agents", ".mcp.json", "MEMORY.md"} <= names


def test_the_page_of_the_sandbox_names_files_that_are_protected(tmp_path):
    names = set(PluginHost(Settings.in_memory({}, tmp_path)).project_files())
    page = (Path(__file__).parents[3] / "docs" / "sandbox.md").read_text(encoding="utf-8")
    rows = page.partition("\n- what pi and its plugins read:")[2].partition("\n- what git runs:")[0]

    named = [each for each in re.findall(r"`([^`]+)`", rows) if each not in (".MD", "register_project_files")]

    assert len(named) > 30
    assert set(named) <= names


@pytest.mark.parametrize("name", ["", "/etc/passwd", "../up", "a//b", "a/./b"])
def test_a_name_that_is_no_path_below_a_folder_is_reported(name, tmp_path):
    class Wrong:
        @hookimpl
        def register_project_files(self):
            return [ProjectFile(name)]

    host = PluginHost(Settings.in_memory({}, tmp_path), installed=False)
    host.add(Wrong(), "wrong")

    assert host.find_all("register_project_files") == {}
    assert [problem.plugin for problem in host.problems] == ["wrong"]
