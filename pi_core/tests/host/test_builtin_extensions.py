"""``builtin:NAME`` in ``extensions`` and after ``-e``: which plugins, tools and providers are off, and why."""

from __future__ import annotations

import json

import pytest

from pi_core.host import PluginHost
from pi_core.host.builtin_extensions import check_builtins, switched_off
from pi_core.host.extensions.places import find_extensions
from pi_core.models.registry import ModelRegistry
from pi_core.settings import Settings
from pi_core.settings.trust import ProjectTrust
from pi_hookspecs import UnknownName, UserError
from pi_testing import for_each

ALL = {"mcp", "codemode", "llama.cpp", "tool-search"}


@for_each(
    ("entries", "given", "discover", "off"),
    [
        ([], [], True, set()),
        (["-builtin:mcp"], [], True, {"mcp"}),
        (["- builtin:mcp "], [], True, {"mcp"}),
        (["!builtin:mcp"], [], True, {"mcp"}),
        (["!builtin:*"], [], True, ALL),
        (["!builtin:[mc]*"], [], True, {"mcp", "codemode"}),
        (["-builtin:llama.cpp", "-builtin:tool-search"], [], True, {"llama.cpp", "tool-search"}),
        (["builtin:mcp", "+builtin:codemode", "mcp.py"], [], True, set()),
        (["-builtin:mcp", "+builtin:mcp"], [], True, {"mcp"}),
        (["-builtin:mcp"], ["builtin:mcp"], True, set()),
        (["-builtin:mcp"], ["builtin:codemode"], True, {"mcp"}),
        ([], [], False, ALL),
        (["+builtin:mcp"], ["builtin:mcp", "x.py"], False, ALL - {"mcp"}),
    ],
)
def test_what_is_off(entries, given, discover, off) -> None:
    found = switched_off(Settings.in_memory({"extensions": entries}), given, discover=discover)

    assert found.reasons.keys() == off
    assert found.problems == ()


def test_what_is_off_has_no_plugin_no_tool_and_no_provider(tmp_path) -> None:
    settings = Settings.in_memory({"extensions": ["!builtin:*"]}, agent_dir=tmp_path)
    host, usual = PluginHost(settings), PluginHost(Settings.in_memory(agent_dir=tmp_path))

    assert {"mcp", "codemode", "provider-llamacpp"} <= host.disabled
    assert {"mcp", "codemode"} & usual.disabled == set()
    assert host.switched_off is not None
    assert host.switched_off.tools == ("tool_searc[h]",)
    assert "extensions in" in (host.why_no_command("mcp") or "")
    assert ["llama-cpp" in ModelRegistry(each, each.settings).provider_ids() for each in (host, usual)] == [False, True]


@pytest.mark.parametrize("trusted", [True, False])
def test_what_the_user_switched_off_a_project_does_not_switch_on(tmp_path, trusted) -> None:
    agent, work = tmp_path / "agent", tmp_path / "work"
    for folder, entry in ((agent, "-builtin:mcp"), (work / ".pi", "+builtin:mcp")):
        folder.mkdir(parents=True)
        (folder / "settings.json").write_text(json.dumps({"extensions": [entry]}))
    host = PluginHost(Settings.load(work, agent, trust=ProjectTrust.given(work, is_trusted=trusted)))

    assert "mcp" in host.disabled
    problems = [each.message for each in host.problems if "is ignored" in each.message]
    assert len(problems) == trusted


def test_a_name_that_does_not_exist_is_a_problem_with_the_nearest_one(tmp_path) -> None:
    settings = Settings.in_memory({"extensions": ["-builtin:mpc"]}, agent_dir=tmp_path)
    host = PluginHost(settings)

    assert ["Did you mean mcp?" in each.message for each in host.problems] == [True]
    with pytest.raises(UnknownName, match=r"mpc. Did you mean mcp\?"):
        check_builtins(["builtin:mpc"], host)


def test_one_that_is_disabled_or_not_installed_cannot_be_had(tmp_path) -> None:
    settings = Settings.in_memory({"plugins": {"disabled": ["mcp"]}}, agent_dir=tmp_path)

    with pytest.raises(UserError, match=r"the plugin 'mcp' is disabled"):
        check_builtins(["builtin:mcp"], PluginHost(settings, builtins=["builtin:mcp"]))
    with pytest.raises(UserError, match=r"not installed: .*pluggypi\[mcp\]"):
        check_builtins(["builtin:mcp"], PluginHost(Settings.in_memory(agent_dir=tmp_path), installed=False))


def test_they_are_no_files(tmp_path) -> None:
    settings = Settings.in_memory({"extensions": ["-builtin:mcp", "+builtin:codemode"]}, agent_dir=tmp_path)

    assert find_extensions(tmp_path, settings, ["builtin:mcp"], discover=True) == ([], [])
