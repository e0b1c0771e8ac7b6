"""The debug log holds what an odd run needs, never a key, and does not exist unless it is enabled."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_core.base.secret_redaction import SecretRedaction
from pi_testing.patience import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow  # each starts programs that take seconds

PI = Path(sys.executable).with_name("pi")
KEY = "my-own-k3y-without-a-known-form"
FAILING = """
from pi_hookspecs import hookimpl

@hookimpl
def activate(pi):
    @pi.on("turn_start")
    def listen(event, ctx):
        raise ValueError("boom with KEY")
""".replace("KEY", KEY)


class Echo(BaseHTTPRequestHandler):
    """Refuses, and repeats the key that it got."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        body = json.dumps({"error": {"message": f"bad key {self.headers['authorization']}"}}).encode()
        self.send_response(401)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(autouse=True)
def _indexed(tmp_path: Path, pi_plugin_index: Path) -> None:
    """Begin like a second run: to index the plugins takes longer than the rest."""
    agent = tmp_path / ".pi" / "agent"
    agent.mkdir(parents=True)
    (agent / "cache").symlink_to(pi_plugin_index, target_is_directory=True)


@pytest.fixture
def refusing() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Echo)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


def run(home: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [PI, *arguments],
        cwd=home,
        env={"PATH": os.environ["PATH"], "HOME": str(home), **environ},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )


def logged(home: Path, *arguments: str, level: str = "debug", **environ: str) -> str:
    run(home, *arguments, PI_LOG=level, PI_LOG_FILE="pi.log", **environ)
    return (home / "pi.log").read_text(encoding="utf-8")


def test_a_run_is_logged_from_loading_to_its_last_answer(tmp_path: Path) -> None:
    log = logged(tmp_path, "--model", "offline/rules", "-p", "List the files here")

    for part in (
        "DEBUG pi.host plugin provider-offline: load begins",
        "INFO pi.host plugin provider-offline: load took ",
        "INFO pi.session session ",
        ".jsonl",
        "DEBUG pi.providers request to offline/rules begins",
        "INFO pi.providers answer of offline/rules after ",
        "INFO pi.agent tool bash (",
    ):
        assert part in log
    assert "List the files" not in log


def test_a_level_leaves_out_what_is_below_it(tmp_path: Path) -> None:
    log = logged(tmp_path, "--model", "offline/rules", "-p", "List the files here", level="warning")

    assert " INFO " not in log
    assert " DEBUG " not in log


def test_the_default_file_is_the_users_alone_and_named_for_the_process(tmp_path: Path) -> None:
    run(tmp_path, "--model", "offline/rules", "-p", "List the files here", PI_LOG="info")

    (file,) = (tmp_path / ".pi" / "agent" / "logs").iterdir()
    assert file.name.removeprefix("pi-").removesuffix(".log").isdigit()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("level", ["debug", "info", "warning"])
def test_a_key_never_appears_in_any_output_that_repeats_it(tmp_path: Path, refusing: str, level: str) -> None:
    provider = {"baseUrl": refusing, "api": "openai-completions", "apiKey": f"!echo {KEY}", "models": [{"id": "m"}]}
    agent = tmp_path / ".pi" / "agent"
    (agent / "extensions").mkdir(parents=True)
    (agent / "models.json").write_text(json.dumps({"providers": {"mine": provider}}))
    (agent / "extensions" / "boom.py").write_text(FAILING)

    log = logged(tmp_path, "--model", "mine/m", "-p", "hello", level=level, MY_API_KEY=KEY)

    assert KEY not in log
    assert "WARNING pi.providers answer of mine/m after" in log
    assert "WARNING pi.hooks boom, turn_start:" in log
    assert ("pi.host plugin" in log) == (level != "warning")


def test_responses_are_logged_with_their_status(tmp_path: Path, refusing: str) -> None:
    agent = tmp_path / ".pi" / "agent"
    agent.mkdir(parents=True, exist_ok=True)
    provider = {"baseUrl": refusing, "api": "openai-completions", "apiKey": KEY, "models": [{"id": "m"}]}
    (agent / "models.json").write_text(json.dumps({"providers": {"mine": provider}}))

    log = logged(tmp_path, "--model", "mine/m", "-p", "hello")

    assert f"INFO pi.providers POST {refusing}/chat/completions: 401\n" in log
    assert KEY not in log


def test_an_unknown_level_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    done = run(tmp_path, "--model", "offline/rules", "-p", "hello", PI_LOG="loud")

    assert done.returncode == 1
    assert done.stderr == "Error: PI_LOG='loud' is not a log level; set it to debug, info or warning, or unset it\n"


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    done = run(tmp_path, "--model", "offline/rules", "-p", "hello", PI_LOG="info", PI_LOG_FILE=str(tmp_path))

    assert done.returncode == 1
    assert str(tmp_path) in done.stderr
    assert "PI_LOG_FILE" in done.stderr


def test_without_the_variable_nothing_is_imported_or_written(tmp_path: Path) -> None:
    program = (
        "import asyncio, sys\n"
        "from pi_core import run\n"
        "run('List the files here', model='offline/rules')\n"
        "parts = {'logging.handlers', 'pi_core.conversation.debug_log'}\n"
        "print(sorted(parts & set(sys.modules)))\n"
        "import logging; print(logging.getLogger('pi').handlers)\n"
    )
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environ, capture_output=True, text=True, check=True
    )

    assert done.stdout == "[]\n[]\n"
    assert not (tmp_path / ".pi" / "agent" / "logs").exists()


def test_a_program_gets_the_log_without_the_command_line(tmp_path: Path) -> None:
    program = "from pi_core import run; run('List the files here', model='offline/rules')"
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PI_LOG": "info", "PI_LOG_FILE": "own.log"}
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=environ, capture_output=True, check=True)

    assert "INFO pi.providers answer of offline/rules after " in (tmp_path / "own.log").read_text()


@given(secret=st.text(min_size=6), before=st.text(), after=st.text())
def test_a_known_secret_is_in_no_redacted_text(secret: str, before: str, after: str) -> None:
    redaction = SecretRedaction({"MY_TOKEN": secret}, Path("/does/not/exist"))

    assert secret not in redaction.redact(f"{before}{secret}{after}").replace("[redacted]", "")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("GET https://host/path?key=abc#part 200", "GET https://host/path 200"),
        ("https://me:word@host/path", "https://host/path"),
        ("Authorization: Bearer abcdefghijk", "Authorization: [redacted]"),
        ("use sk-ant-REDACTED here", "use [redacted] here"),
        ("an everyday sentence about tokens", "an everyday sentence about tokens"),
    ],
)
def test_what_has_the_form_of_a_secret_is_taken_out(text: str, kept: str) -> None:
    assert SecretRedaction({}, Path("/does/not/exist")).redact(text) == kept


def test_stored_keys_are_known(tmp_path: Path) -> None:
    stored = tmp_path / "auth.json"
    stored.write_text(json.dumps({"acme": {"type": "oauth", "access": "abcdef1", "refresh": "abcdef2", "expires": 1}}))

    redacted = SecretRedaction({}, stored).redact("abcdef1 abcdef2 oauth")

    assert redacted == "[redacted] [redacted] oauth"
