"""A host that has the plugins of another one except some: installed, local and the program's own."""

from __future__ import annotations

import pytest

from pi_core.host import PluginHost
from pi_core.host.extensions import LocalExtensions
from pi_core.host.without import host_without
from pi_core.settings import Settings
from pi_hookspecs import UnknownName, hookimpl

EXTENSION = """
from pi_hookspecs import hookimpl

@hookimpl
def agent_start(event):
    pass
"""


class Own:
    """A plugin of the program."""

    @hookimpl
    def agent_start(self, event):
        """Do nothing."""


@pytest.fixture
def host(tmp_path):
    (tmp_path / "tide.py").write_text(EXTENSION)
    (tmp_path / "wind.py").write_text(EXTENSION)
    host = PluginHost(Settings.in_memory(agent_dir=tmp_path / "agent"), disabled=["bash"])
    LocalExtensions(host, cwd=tmp_path, given=[tmp_path / "tide.py", tmp_path / "wind.py"], discover=False).load()
    host.add(Own(), "own")
    host.add(Own(), "other")
    return host


def without(host, tmp_path, *names):
    return host_without(host, names, settings=host.settings, cwd=tmp_path)


def test_all_others_are_there(host, tmp_path):
    made = without(host, tmp_path, "tide", "own", "tools")

    assert sorted(made.added()) == ["other", "wind"]
    assert made.disabled == {"bash", "tide", "own", "tools"}
    assert made.plugin_object("other") is host.plugin_object("other")
    assert made.plugin_object("wind") is not host.plugin_object("wind")


def test_the_host_itself_keeps_its_plugins(host, tmp_path):
    without(host, tmp_path, "tide", "own")

    assert sorted(host.added()) == ["other", "own", "tide", "wind"]


@pytest.mark.parametrize(("name", "hint"), [("tyde", "tide"), ("oter", "other"), ("tols", "tools")])
def test_a_name_that_no_plugin_has_is_refused(host, tmp_path, name, hint):
    with pytest.raises(UnknownName, match=hint):
        without(host, tmp_path, name)
