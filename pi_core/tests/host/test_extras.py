"""What a project needs and is not installed is named, with the command that installs it."""

from __future__ import annotations

import sys

import pytest

from pi_core.host import PluginHost
from pi_core.host.advice import install_command
from pi_core.host.extras import missing_extras
from pi_core.settings import Settings
from pi_core.settings.trust import ProjectTrust
from pi_testing import for_each


@pytest.fixture
def needs(tmp_path):
    """Return a function that returns what is missing in a project with `.mcp.json`, with these plugins installed."""
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / ".mcp.json").write_text("{}")

    def needs(*installed, trusted=True, decided=True):
        cwd = tmp_path / "project"
        trust = ProjectTrust(cwd=cwd, is_trusted=trusted, why="set by the test", decided=decided)
        host = PluginHost(Settings.load(cwd, agent_dir=tmp_path / "agent", trust=trust))
        host.records = {name: record for name, record in host.records.items() if name in installed}
        return missing_extras(host, cwd)

    return needs


def test_the_file_of_a_plugin_that_is_not_installed_is_named_with_the_remedy(needs):
    assert needs() == [
        (
            "No MCP server of .mcp.json is used, because no installed plugin connects to MCP servers",
            f"{install_command('mcp')} adds one",
        )
    ]
    assert needs(trusted=False, decided=False) == needs()


def test_nothing_is_missing_where_the_plugin_is_installed_or_the_files_are_refused(needs):
    assert needs("mcp") == []
    assert needs(trusted=False) == []


@for_each(
    ("prefix", "left", "command"),
    [
        ("home/ada/.local/share/uv/tools/pluggypi", [], "uv tool install"),
        ("opt/tools/pluggypi", ["uv-receipt.toml"], "uv tool install"),
        ("opt/pipx/venvs/pluggypi", ["pipx_metadata.json"], "pipx install --force"),
        ("opt/venv", [], "pip install"),
    ],
)
def test_an_installation_is_extended_by_what_made_it(tmp_path, prefix, left, command):
    folder = tmp_path / prefix
    folder.mkdir(parents=True)
    for name in left:
        (folder / name).write_text("")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.prefix", str(folder))
        patch.setattr("importlib.util.find_spec", lambda _name: object())
        found = install_command("mcp")

    assert found == f"{command} 'pluggypi[mcp]'"


def test_an_environment_without_pip_is_extended_by_uv(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)

    assert install_command("mcp") == f"uv pip install --python {sys.executable} 'pluggypi[mcp]'"
