"""What pi reports about failures contains no secret that it knows."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

PLUGIN = """
import asyncio, os, threading
from pi_hookspecs import Command, PiError, UserError, hookimpl

FAILED = "cannot log in with " + os.environ.get("MY_TOKEN", "") + " or " + {stored!r}

def fail(error=ValueError):
    raise error(FAILED)

{code}
"""

FAILURES = {
    "at import": "fail()",
    "in a registration": "@hookimpl\ndef register_tools(): fail()",
    "in a hook": "@hookimpl\ndef session_start(event, ctx): fail()",
    "as an error of the user's": "@hookimpl\ndef agent_end(event, ctx): fail(UserError)",
    "as the exit of a hook": "@hookimpl\ndef agent_end(event, ctx): fail(SystemExit)",
    "as a wrong answer": "@hookimpl\ndef input(event, ctx): return [FAILED]",
    "in a thread": (
        "@hookimpl\ndef session_start(event, ctx):\n    thread = threading.Thread(target=fail)\n"
        "    thread.start()\n    thread.join()"
    ),
    "in a task": (
        "@hookimpl\nasync def session_start(event, ctx):\n    asyncio.get_running_loop().create_task(late())\n"
        "    await asyncio.sleep(0)\n\nasync def late(): fail()"
    ),
    "in a callback": "@hookimpl\ndef session_start(event, ctx): asyncio.get_running_loop().call_soon(fail)",
    "as the end of pi": "@hookimpl\ndef register_modes(): fail(PiError)",
}


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["text", "json"])
@pytest.mark.parametrize("code", FAILURES.values(), ids=[*FAILURES])
def test_a_failure_is_reported_without_the_secrets_it_names(tmp_path, code, mode):
    agent_dir = tmp_path / "pi"
    agent_dir.mkdir()
    (agent_dir / "auth.json").write_text(json.dumps({"tides": {"type": "api_key", "key": "stored-secret"}}))
    (tmp_path / "leaks.py").write_text(PLUGIN.format(code=code, stored="stored-secret"))
    environ = {**os.environ, "PI_CODING_AGENT_DIR": str(agent_dir), "MY_TOKEN": "secret-of-the-environment"}
    command = [sys.executable, "-P", "-m", "pi_cli", "--model", "offline/rules", "--mode", mode, "--verbose"]

    done = subprocess.run(
        [*command, "-e", str(tmp_path / "leaks.py"), "-p", "hello"],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )

    said = done.stdout + done.stderr
    assert "[redacted]" in said
    assert "secret-of-the-environment" not in said
    assert "stored-secret" not in said
