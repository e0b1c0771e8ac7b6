"""Tests whether the plugins of a draft can be imported, in a child process that may hang, crash or print."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from pi_core.host.breadcrumbs import Breadcrumbs
from pi_core.host.installers import clean_environment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["probe"]

_START_SECONDS = 60.0


def probe(
    plugins: Sequence[str], paths: Sequence[str], scratch: Path, seconds: float, environ: Mapping[str, str]
) -> dict[str, dict[str, Any]]:
    """Return for each plugin whether it loads, its problems, hooks, tools and commands.

    Args:
        plugins: Their names.
        paths: The import path: base, then the draft.
        scratch: A folder for temporary files.
        seconds: The deadline of each plugin.
        environ: The environment, without project-specific variables.
    """
    if not plugins:
        return {}
    with TemporaryDirectory(prefix="probe-", dir=scratch) as name:
        folder = Path(name)
        request = folder / "request.json"
        answer = folder / "answer.json"
        request.write_text(
            json.dumps(
                {
                    "plugins": list(plugins),
                    "paths": list(paths),
                    "scratch": str(folder),
                    "seconds": seconds,
                    "answer": str(answer),
                }
            ),
            encoding="utf-8",
        )
        end = _run(request, seconds * len(plugins) + _START_SECONDS, environ)
        if answer.exists():
            found: dict[str, dict[str, Any]] = json.loads(answer.read_text(encoding="utf-8"))
            return {each: found.get(each) or _failed("it was not found after it was installed") for each in plugins}
        guilty = set(Breadcrumbs(folder / "cache").left_behind()) or set(plugins)
        return {each: _failed(f"loading it ends the process ({end})") for each in plugins if each in guilty}


def _failed(problem: str) -> dict[str, Any]:
    return {"loads": False, "problems": [f"import: {problem}"], "hooks": [], "tools": [], "commands": []}


def _run(request: Path, seconds: float, environ: Mapping[str, str]) -> str:
    """Run the child; return how it ended."""
    program = f"import sys; sys.path[:] = {sys.path!r}; from pi_packages.probe_child import main; main(sys.argv[1])"
    process = subprocess.Popen(  # noqa: S603 - plugins that the user has agreed to
        [sys.executable, "-P", "-c", program, str(request)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=request.parent,
        env=clean_environment(environ),
        start_new_session=os.name == "posix",
    )
    try:
        code = process.wait(seconds)
    except subprocess.TimeoutExpired:
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)  # and what the plugins have started
        else:
            process.kill()
        process.wait()
        return f"no end within {seconds:g} s"
    return f"exit code {code}" if code >= 0 else f"signal {-code}"
