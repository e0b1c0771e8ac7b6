"""Finds the engine that works on this machine, by trying what it must refuse."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from pi_hookspecs import PiError
from pi_process_kit import confined_calls, confinement_abi
from pi_sandbox.bwrap import bwrap_argv
from pi_sandbox.landlock import landlock_argv
from pi_sandbox.options import Options
from pi_sandbox.policy import make_policy
from pi_sandbox.seatbelt import seatbelt_argv

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_sandbox.policy import Policy, Way

__all__ = ["ORDER", "Engine", "choose_engine", "find_engine", "try_engine"]

ORDER = ("bwrap", "landlock", "seatbelt")
"""``auto`` uses the first one that works."""
_PROBE = """
echo x > "$1/outside"
cat "$1/secret" > read
: 2> /dev/null < "/dev/tcp/127.0.0.1/$2" && echo x > connected
echo x > inside
exit 0
"""
_PROBE_SECONDS = 20


@frozen
class Engine:
    """What restricts programs.

    Attributes:
        name: As in ``sandbox.mode``.
        program: Path of its program; None for Landlock.
        calls: For bubblewrap, a file with the filter of system calls, which no program may change.
    """

    name: str
    program: str | None = None
    calls: str | None = None

    def with_calls(self, folder: str) -> Engine:
        """Return the engine with a filter of system calls, which is written to a private folder."""
        calls = confined_calls() if self.name == "bwrap" else None
        if calls is None:
            return self
        path = os.path.join(folder, "calls.bpf")
        with open(path, "wb") as file:
            file.write(calls)
        return evolve(self, calls=path)

    def argv(self, argv: Sequence[str], policy: Policy, cwd: str, proxy: Way | None = None) -> Sequence[str]:
        """Return the command that runs a program, an absolute path, in the sandbox.

        Args:
            argv: The program and its arguments.
            policy: What it may do.
            cwd: Where it runs.
            proxy: The way to the proxy, for the network ``allow``.
        """
        if self.name == "landlock":
            return landlock_argv(argv, policy, proxy)
        assert self.program is not None  # noqa: S101 - all others are programs
        if self.name == "seatbelt":
            return seatbelt_argv(self.program, argv, policy, proxy)
        return bwrap_argv(self.program, argv, policy, cwd, proxy, calls=self.calls)


def choose_engine(mode: str) -> Engine:
    """Return the engine for a mode, after testing it.

    Raises:
        PiError: It does not work here; the message says why, and what to do.
    """
    problems = []
    for name in ORDER if mode == "auto" else (mode,):
        problem = try_engine(name)
        if problem is None:
            return find_engine(name)
        problems.append(f"{name}: {problem}")
    raise PiError(
        f"The sandbox {mode!r} does not work on this machine, so nothing is started ({'; '.join(problems)})."
        " Install bubblewrap, or turn the sandbox off with --sandbox off (see pi help sandbox)."
    )


def try_engine(name: str) -> str | None:
    """Test what an engine must refuse; return what is wrong, None if it works."""
    engine = find_engine(name)
    if name == "landlock" and not confinement_abi():
        return "the kernel has no Landlock of version 3 or later" if sys.platform == "linux" else "it needs Linux"
    if name != "landlock" and engine.program is None:
        return "its program is not installed"
    return _probe(engine)


def find_engine(name: str) -> Engine:
    """Return an engine, whether or not it works."""
    return Engine(name, shutil.which({"bwrap": "bwrap", "seatbelt": "sandbox-exec"}.get(name, "")))


def _probe(engine: Engine) -> str | None:
    """Test what an engine must refuse, and check the effects from outside; None if it works."""
    import socket

    with (
        tempfile.TemporaryDirectory(prefix="pi-sandbox-probe-") as root,
        socket.create_server(("127.0.0.1", 0)) as server,
    ):
        cwd, temp, home, agent = (Path(root).resolve() / name for name in ("cwd", "temp", "home", "agent"))
        for folder in (cwd, temp, home, agent):
            folder.mkdir()
        (home / "secret").write_text("secret")
        places = {"cwd": str(cwd), "temp": str(temp), "home": str(home), "agent_dir": str(agent)}
        policy = make_policy(Options(deny_read=(str(home / "secret"),)), env={}, **places)
        shell = shutil.which("bash") or "/bin/sh"
        program = (shell, "-c", _PROBE, "probe", str(home), str(server.getsockname()[1]))
        problem = _run(engine.with_calls(root).argv(program, policy, str(cwd)), str(cwd))
        if problem is not None or not (cwd / "inside").exists():
            return problem or "the working directory could not be changed"
        if (home / "outside").exists():
            return "a file outside the working directory could be changed"
        if "secret" in (cwd / "read").read_text():
            return "a hidden file could be read"
        return "a connection could be made" if (cwd / "connected").exists() else None


def _run(argv: Sequence[str], cwd: str) -> str | None:
    try:
        done = subprocess.run(  # noqa: S603 - the probe's own script
            argv,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PROBE_SECONDS,
            check=False,
            env={"PATH": os.environ.get("PATH", os.defpath)},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0:
        return None
    lines = done.stderr.strip().splitlines()
    return lines[-1][:200] if lines else f"exit code {done.returncode}"
