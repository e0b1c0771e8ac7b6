"""Which shell runs a command, how it gets the command, and in which environment, where there is no terminal."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING, Any

from pi_tools.commands.no_terminal import without_terminal
from pi_tools.failure import ToolFailure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["LONGEST_ARGUMENT", "arguments_for", "environment", "find_shell"]

_VARIABLES = ("PI_SESSION_ID", "PI_SESSION_FILE", "PI_PROVIDER", "PI_MODEL", "PI_REASONING_LEVEL")


LONGEST_ARGUMENT = 120_000
"""Bytes of a command that a program can surely be given as an argument: Linux takes 131,071."""


def arguments_for(arguments: Sequence[str], command: str, *, takes_input: bool = False) -> tuple[list[str], bytes]:
    """Return the arguments of a shell that runs a command, and what it has to find on its standard input.

    A command that is too long for an argument is read from there, and finds only what comes after it.

    Args:
        arguments: Those before the command.
        command: The command.
        takes_input: Whether it is given input later; otherwise its input is the null device.
    """
    data = os.fsencode(command)
    if len(data) <= LONGEST_ARGUMENT or tuple(arguments[-1:]) != ("-c",):
        return [*arguments, command], b""
    first = "" if takes_input else "exec < /dev/null; "
    return [*arguments, f'eval "{first}$(head -c {len(data)})"'], data


def find_shell(configured: str | None = None) -> str:
    """Return the absolute path of the shell.

    Raises:
        ToolFailure: The configured shell does not exist, or there is none at all.
    """
    if configured:
        path = os.path.expanduser(configured)
        if not os.path.exists(path):
            raise ToolFailure(
                f"Custom shell path not found: {configured}\n"
                "Set shellPath in settings.json to an existing shell, or remove it to use bash."
            )
        return os.path.abspath(path)
    if sys.platform == "win32":
        return _windows_bash()
    if os.path.exists("/bin/bash"):
        return "/bin/bash"
    shell = shutil.which("bash") or shutil.which("sh")
    if shell is None:
        raise ToolFailure("No shell found: there is no /bin/bash, and neither bash nor sh is on PATH. Set shellPath.")
    return os.path.abspath(shell)


def _windows_bash() -> str:
    for variable in ("ProgramFiles", "ProgramFiles(x86)"):
        folder = os.environ.get(variable)
        if folder and os.path.exists(path := os.path.join(folder, "Git", "bin", "bash.exe")):
            return path
    found = shutil.which("bash.exe")
    if found is None:
        raise ToolFailure(
            "No bash found. Either install Git for Windows, or put another bash on PATH, "
            "or set shellPath in settings.json."
        )
    return found


def environment(ctx: Any, *, user: bool = False) -> Mapping[str, str]:
    """Return pi's own environment with the session's variables, and the agent's programs first on ``PATH``.

    ``PI_CODING_AGENT=true`` and ``AI_AGENT=pi`` let scripts detect that an agent runs them, and which. Editors, pagers
    and questions for passwords, which would wait for a terminal, end at once.

    Args:
        ctx: The context of the call.
        user: Whether the user runs the command: then editors and questions with a window of their own may open.
    """
    env = {name: value for name, value in os.environ.items() if name not in _VARIABLES}
    env |= {"PI_CODING_AGENT": "true", "AI_AGENT": "pi"}
    folder = getattr(ctx, "agent_dir", None) or env.get("PI_CODING_AGENT_DIR") or "~/.pi/agent"
    programs = os.path.join(os.path.expanduser(str(folder)), "bin")
    path = env.get("PATH", os.defpath)
    if programs not in path.split(os.pathsep):
        env["PATH"] = f"{programs}{os.pathsep}{path}"
    env.update(_session_variables(ctx))
    return without_terminal(env, user=user)


def _session_variables(ctx: Any) -> dict[str, str]:
    session, model = getattr(ctx, "session", None), getattr(ctx, "model", None)
    values = (
        getattr(session, "id", None),
        getattr(session, "file", None),
        getattr(model, "provider", None),
        getattr(model, "id", None),
        getattr(ctx, "thinking_level", None),
    )
    return {name: str(value) for name, value in zip(_VARIABLES, values, strict=True) if value is not None}
