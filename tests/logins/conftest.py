"""The real ``pi``, an authorization server, and a browser that goes where it is sent."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import NamedTuple

import pytest

from pi_testing.fake_servers.oauth import FakeAuthorization
from pi_testing.patience import PATIENCE

KEPT = ("LANG", "LC_ALL", "PATH", "PYTHONPYCACHEPREFIX", "SYSTEMROOT", "TMPDIR", "VIRTUAL_ENV")

BROWSER = """
import asyncio, sys
from pi_testing.fake_servers.oauth import browse
visit = asyncio.run(browse(sys.argv[1]))
with open(sys.argv[2], "a") as log:
    print(visit.status, visit.text, file=log)
"""
"""A browser as the variable BROWSER names it; what its user clicks is for the server to say."""


class Done(NamedTuple):
    code: int
    out: str
    err: str


class Pi:
    """Runs ``pi`` next to this process, so that servers of the test can answer it."""

    def __init__(self, folder, index):
        self.agent_dir = folder / "agent"
        self.agent_dir.mkdir(mode=0o700)
        (self.agent_dir / "cache").symlink_to(index, target_is_directory=True)
        self.auth = self.agent_dir / "auth.json"
        self.visited = folder / "visited.log"
        self.cwd = folder / "work"
        self.cwd.mkdir()
        script = folder / "browser.py"
        script.write_text(BROWSER)
        self.env = {
            **{name: os.environ[name] for name in KEPT if name in os.environ},
            "HOME": str(folder),
            "PI_CODING_AGENT_DIR": str(self.agent_dir),
            "BROWSER": f"{sys.executable} {script} %s {self.visited}",
        }

    async def run(self, *arguments, stdin=b"", **env):
        """Run to the end."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-P", "-m", "pi_cli", *arguments),
            cwd=self.cwd,
            env={**self.env, **env},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await asyncio.wait_for(process.communicate(stdin), PATIENCE)
        assert b"Traceback" not in err, err.decode()
        return Done(process.returncode, out.decode(), err.decode())

    def store(self, **entries):
        """Write auth.json as another program might have left it."""
        self.auth.write_text(json.dumps({name.replace("_", "-"): entry for name, entry in entries.items()}))

    @property
    def stored(self):
        return json.loads(self.auth.read_text())


@pytest.fixture
def pi(tmp_path, pi_plugin_index):
    return Pi(tmp_path, pi_plugin_index)


@pytest.fixture
async def server(pi):
    """An authorization server that every login is sent to."""
    async with FakeAuthorization() as server:
        for provider in ("ANTHROPIC", "OPENAI_CODEX", "GITHUB_COPILOT", "GOOGLE_GEMINI_CLI"):
            pi.env[f"PI_OAUTH_URL_{provider}"] = server.url
            pi.env[f"PI_OAUTH_PORT_{provider}"] = "0"
        yield server
