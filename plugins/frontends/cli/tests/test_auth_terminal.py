"""What people see who sign in at a terminal."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess

import pytest

from pi_testing.patience import PATIENCE

pytestmark = pytest.mark.slow  # each starts programs that take seconds

PLUGIN = """
from pi_hookspecs import Model, ProviderInfo, hookimpl


class Login:
    name = "club"

    async def login(self, ui):
        table = await ui.select("Which table?", ["round", "long", "loud"])
        code = await ui.input("Code", "on your card", timeout=30)
        return {"access": f"{table}/{code}"}

    async def refresh(self, credential):
        return credential

    def api_key(self, credential):
        return credential["access"]


@hookimpl
def register_logins():
    return [Login()]


@hookimpl
def register_models():
    model = Model(id="m", name="m", api="x", provider="shop")
    return [ProviderInfo(id="shop", name="Shop", api="x", key_variables=("SHOP_KEY",), models=(model,))]
"""


class Terminal:
    """A terminal with ``pi auth`` in it."""

    def __init__(self, pi, *arguments):
        self.master, slave = pty.openpty()
        command = ["sh", "-c", f': <{os.ttyname(slave)}; exec "$@"', "sh", *pi.command, "auth", *arguments]
        streams = {"stdin": slave, "stdout": slave, "stderr": slave}
        self.process = subprocess.Popen(command, cwd=pi.cwd, env=pi.env, start_new_session=True, **streams)
        os.close(slave)
        self._seen = b""

    def until(self, expected):
        while expected.encode() not in self._seen:
            piece = self._read()
            assert piece, f"{expected!r} does not come after {self._seen!r}"
            self._seen += piece
        output, _, self._seen = self._seen.partition(expected.encode())
        return (output + expected.encode()).decode()

    def type(self, text):
        os.write(self.master, text.encode())

    def end(self):
        while piece := self._read():
            self._seen += piece
        os.close(self.master)
        return self._seen.decode(), self.process.wait(timeout=PATIENCE)

    def _read(self):
        try:
            return os.read(self.master, 4096)
        except OSError:  # Linux raises this when the other side is closed
            return b""


@pytest.fixture
def terminal(pi, knows):
    knows("club", PLUGIN)
    return lambda *arguments: Terminal(pi, *arguments)


@pytest.fixture
def stored(pi):
    return lambda: json.loads((pi.agent_dir / "auth.json").read_text())


def test_the_provider_is_chosen_from_a_list_with_logins_first(terminal, stored):
    at = terminal("login")
    offered = at.until("Number or name: ")
    at.type("club\n")
    at.until("Number or name: ")
    at.type("lo\n")
    at.until("Which of long, loud?")
    at.type("2\n")
    at.until("Code (on your card): ")
    at.type("77\n")
    output, code = at.end()

    assert offered.index(" club") < offered.index(" shop")
    assert (code, stored()["club"]["access"]) == (0, "long/77")
    assert "Signed in to club." in output


def test_a_key_is_asked_for_without_echo(terminal, stored):
    at = terminal("login", "shop")
    output = at.until("API key for shop (not shown): ")
    at.type("sk-secret\n")
    rest, code = at.end()

    assert (code, stored()["shop"]["key"]) == (0, "sk-secret")
    assert "sk-secret" not in output + rest


def test_the_end_of_input_dismisses(terminal, pi):
    at = terminal("login")
    at.until("Number or name: ")
    at.type("\x04")
    output, code = at.end()

    assert (code, "No provider was chosen; nothing has changed." in output) == (1, True)
    assert not (pi.agent_dir / "auth.json").exists()


@pytest.mark.parametrize("arguments", [["login", "club"], ["login", "shop"]], ids=" ".join)
def test_ctrl_c_ends_it_at_once_and_stores_nothing(terminal, pi, arguments):
    at = terminal(*arguments)
    at.until(": ")
    at.type("\x03")
    output, code = at.end()

    assert code == 128 + signal.SIGINT
    assert "Traceback" not in output
    assert not (pi.agent_dir / "auth.json").exists()


def test_logout_offers_what_is_stored(terminal, pi, stored):
    entries = {"shop": {"type": "api_key", "key": "k"}, "club": {"type": "oauth", "access": "a"}}
    (pi.agent_dir / "auth.json").write_text(json.dumps(entries))
    at = terminal("logout")
    at.until("Number or name: ")
    at.type("shop\n")

    assert at.end()[1] == 0
    assert list(stored()) == ["club"]
