"""Starts the processes that run a plugin's code for a check, with a time limit and a separate home folder."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_cli.checking.subject import Subject

__all__ = ["Ended", "run_child", "run_program"]

SECONDS = 60.0
"""How long a process may take: a plugin that hangs fails the check."""


class Ended(Exception):
    """The process ended without an answer; the text says how."""


def run_child(module: str, subject: Subject, scratch: Path, seconds: float = SECONDS) -> tuple[dict[str, Any], str]:
    """Run a module of this package for a plugin; return its answer, and what it printed.

    Raises:
        Ended: The plugin ended the process, or did not finish in time.
    """
    folder = Path(mkdtemp(prefix="run-", dir=scratch))
    request, answer, output = folder / "request.json", folder / "answer.json", folder / "output"
    modules = [value.partition(":")[0] for value in subject.plugins.values()]
    paths = [*map(str, subject.paths), str(_metadata(subject, folder))]
    first = paths if subject.name else []  # before another version of it that is installed; but no folder of scripts
    asked = {"plugins": [*subject.plugins], "modules": modules, "first": first, "paths": paths, "answer": str(answer)}
    request.write_text(json.dumps({**asked, "scratch": str(folder / "agent")}), encoding="utf-8")
    (folder / "home").mkdir()
    end = _run(module, request, output, seconds, folder / "home")
    printed = output.read_text(encoding="utf-8", errors="replace")
    if not answer.exists():
        raise Ended(f"{end}: {printed.strip().splitlines()[-1]}" if printed.strip() else end)
    return json.loads(answer.read_text(encoding="utf-8")), printed


def _metadata(subject: Subject, folder: Path) -> Path:
    """Write the metadata of a plugin that is not installed, like an installer; return their folder."""
    site = folder / "site"
    site.mkdir()
    if any(each.glob("*.dist-info") for each in subject.paths if any(each.glob("*.dist-info"))):
        return site  # a wheel brings them
    if not subject.paths:
        return site
    name = subject.name or f"pluggypi-{next(iter(subject.plugins))}"
    metadata = site / f"{name.replace('-', '_')}-{subject.version}.dist-info"
    metadata.mkdir()
    requires = "".join(f"Requires-Dist: {each}\n" for each in subject.requires)
    head = f"Metadata-Version: 2.1\nName: {name}\nVersion: {subject.version}\n{requires}"
    (metadata / "METADATA").write_text(head, encoding="utf-8")
    lines = "".join(f"{plugin} = {value}\n" for plugin, value in subject.plugins.items())
    (metadata / "entry_points.txt").write_text(f"[pi]\n{lines}", encoding="utf-8")
    return site


def run_program(arguments: list[str], subject: Subject, scratch: Path, seconds: float) -> tuple[int | None, str]:
    """Run Python in a plugin's folder with the plugin on its path; return exit code and output, None on a timeout."""
    folder = Path(mkdtemp(prefix="run-", dir=scratch))
    paths = [*map(str, subject.paths), str(_metadata(subject, folder)), *sys.path]
    (folder / "home").mkdir()
    output = folder / "output"
    environ = {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "PYTHONDONTWRITEBYTECODE": "1"}
    environ = {**_environment(os.environ, folder / "home"), **environ}
    with output.open("wb") as written:
        code = _wait(_start([sys.executable, *arguments], written, environ, subject.folder), seconds)
    return code, output.read_text(encoding="utf-8", errors="replace")


def _run(module: str, request: Path, output: Path, seconds: float, home: Path) -> str:
    """Run the process until it ends; return how it ended."""
    program = f"import sys; sys.path[:] = {sys.path!r}; from {module} import main; main(sys.argv[1])"
    with output.open("wb") as written:
        command = [sys.executable, "-P", "-c", program, str(request)]
        code = _wait(_start(command, written, _environment(os.environ, home), home), seconds)
    if code is None:
        return f"it did not finish within {seconds:g} s"
    return f"it ended the process (exit code {code})" if code >= 0 else f"it ended the process (signal {-code})"


def _start(command: list[str], output: BinaryIO, environ: dict[str, str], cwd: Path | None) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - the plugin that its author asked to check
        command,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        cwd=cwd,
        env=environ,
        start_new_session=os.name == "posix",
    )


def _wait(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    """Return the exit code of a process; None if it had to be killed."""
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and everything that a plugin started in it."""
    if os.name == "posix":
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return
    else:
        process.kill()
    process.wait()


def _environment(environ: Mapping[str, str], home: Path) -> dict[str, str]:
    """Return the environment without the user's agent directory and pi's own variables."""
    kept = {name: value for name, value in environ.items() if not name.startswith("PI_")}
    return {**kept, "HOME": str(home), "PI_OFFLINE": "1", "PYTHONIOENCODING": "utf-8"}
