"""What a project needs and is not installed is named, with the command that installs it."""

from __future__ import annotations

import pytest

from pi_core.host import PluginHost
from pi_core.host.extras import install_command, missing_extras
from pi_core.settings import Settings
from pi_core.settings.trust import ProjectTrust


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
            "No MCP server of .mcp.json is used, because the plugin mcp is not installed",
            "pip install 'pluggypi[mcp]' adds it",
        )
    ]
    assert needs(trusted=False, decided=False) == needs()


def test_nothing_is_missing_where_the_plugin_is_installed_or_the_files_are_refused(needs):
    assert needs("mcp") == []
    assert needs(trusted=False) == []


def test_an_installation_by_uv_is_extended_by_uv(monkeypatch):
    monkeypatch.setattr("sys.prefix", "/home/ada/.local/share/uv/tools/pluggypi")

    assert install_command("mcp") == "uv tool install 'pluggypi[mcp]'"
