"""``pi sandbox run -- COMMAND`` and ``pi sandbox check``."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from attrs import evolve

from pi_core import handling_signals
from pi_hookspecs import PiError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pi_hookspecs import SettingsView
    from pi_sandbox.state import Sandbox

__all__ = ["run_subcommand"]

_USAGE = """Usage: pi sandbox check
       pi sandbox run [--engine ENGINE] -- COMMAND [ARGUMENT ...]

check   test on this machine that each engine refuses what it must; exit code 1 if none works
run     run a command in the sandbox of your settings; its exit code is returned
"""


def run_subcommand(arguments: list[str], host: Any) -> int:
    """Run ``pi sandbox``; return the exit code."""
    match arguments:
        case ["check"]:
            return _check()
        case ["run", *rest]:
            return _run(rest, host.settings, host.project_files())
        case [] | ["-h" | "--help"]:
            sys.stdout.write(_USAGE)
            return 0
        case _:
            sys.stderr.write(f"Unknown arguments: {' '.join(arguments)}\n\n{_USAGE}")
            return 2


def _check() -> int:
    from pi_sandbox.engine import ORDER, try_engine

    problems = {name: try_engine(name) for name in ORDER}
    for name, problem in problems.items():
        sys.stdout.write(f"{name:9} {'works' if problem is None else problem}\n")
    working = [name for name, problem in problems.items() if problem is None]
    sys.stdout.write(f"auto      {working[0] if working else 'no engine works: commands are refused'}\n")
    return 0 if working else 1


def _run(arguments: list[str], settings: SettingsView, names: Sequence[str]) -> int:
    engine = None
    if arguments[:1] == ["--engine"] and len(arguments) > 1:
        engine, arguments = arguments[1], arguments[2:]
    if arguments[:1] != ["--"] or len(arguments) < 2:  # noqa: PLR2004 - the dashes and a program
        sys.stderr.write(_USAGE)
        return 2
    from pi_sandbox.options import read_options
    from pi_sandbox.state import Sandbox

    try:
        options = read_options(settings, engine)
        options = evolve(options, mode="auto") if options.mode == "off" else options
        sandbox = Sandbox(options, os.getcwd(), os.fspath(settings.agent_dir), dict(os.environ), names)
        try:
            return asyncio.run(_run_inside(sandbox, arguments[1:]))
        finally:
            sandbox.close()
    except PiError as error:
        sys.stderr.write(f"pi sandbox: {error}\n")
        return 1


async def _run_inside(sandbox: Sandbox, argv: list[str]) -> int:
    """Run a command at the user's own terminal, and return its exit code."""
    from pi_hookspecs import SpawnRequest
    from pi_process_kit import with_folder

    policy, proxy = sandbox.policy, await sandbox.way()
    env = policy.environment(os.environ, proxy)
    request = with_folder(SpawnRequest(argv=argv, cwd=policy.cwd, env=env, purpose="exec"))
    command = sandbox.engine.argv(request.argv, policy, policy.cwd, proxy)
    with _passing_signals() as begun:
        await sandbox.started(request, policy)
        process = await asyncio.create_subprocess_exec(*command, env=env)  # its output is the user's
        begun(process)
        code = await process.wait()
        for each in await sandbox.finish():
            sys.stderr.write(f"pi sandbox: a change of {each.path}, which is protected, was undone\n")
    return code if code >= 0 else 128 - code


@contextmanager
def _passing_signals() -> Iterator[Callable[[asyncio.subprocess.Process], None]]:
    """Pass on to a command the signals that would end pi, which ends after it; yield a function that takes the command.

    What the terminal sends reaches the command without pi: Ctrl-C, and SIGHUP when it is closed.
    """
    commands: list[asyncio.subprocess.Process] = []
    early: list[int] = []
    terminal = _open_terminal()

    def pass_on(number: int, _frame: object) -> None:
        if number != signal.SIGTERM and terminal is not None and _is_in_foreground(terminal):
            return
        if not commands:
            early.append(number)
        elif commands[0].returncode is None:  # its ``send_signal`` could take the exit code that is waited for
            with suppress(ProcessLookupError):
                os.kill(commands[0].pid, number)

    def begun(command: asyncio.subprocess.Process) -> None:
        commands.append(command)
        for number in early:
            pass_on(number, None)

    try:
        with handling_signals(pass_on):
            yield begun
    finally:
        if terminal is not None:
            os.close(terminal)


def _open_terminal() -> int | None:
    """Return a descriptor of the terminal that controls this process; None if there is none."""
    try:
        return os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC)
    except (OSError, AttributeError):  # Windows does not have these
        return None


def _is_in_foreground(terminal: int) -> bool:
    """Whether a terminal sends its signals to this process and those that it started."""
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:  # it has just been closed
        return True
