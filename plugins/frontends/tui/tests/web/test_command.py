"""``pi web`` on the command line: what it refuses before anything is served."""

from __future__ import annotations

import sys

import pytest

from pi_core import PluginHost, Settings
from pi_hookspecs import UserError
from pi_tui.web.command import web


@pytest.fixture
def host(tmp_path):
    return PluginHost(Settings.in_memory(agent_dir=tmp_path / "agent"), installed=False)


@pytest.mark.parametrize("arguments", [["--port", "70000"], ["--port=x"], ["--port"], ["--port", "-1"]])
def test_what_is_no_port_is_refused(host, arguments):
    with pytest.raises(UserError, match="--port takes a number from 0 to 65535"):
        web(arguments, host)


def test_without_textual_serve_the_message_says_what_to_install(host, monkeypatch):
    monkeypatch.setitem(sys.modules, "textual_serve", None)
    with pytest.raises(UserError, match=r"pip install 'pluggypi-tui\[web\]'"):
        web([], host)
