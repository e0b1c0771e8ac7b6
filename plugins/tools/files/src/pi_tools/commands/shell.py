"""Which shell runs a command, and in which environment."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING, Any

from pi_tools.failure import ToolFailure

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["environment", "find_shell"]

_VARIABLES = ("PI_SESSION_ID", "PI_SESSION_FILE", "PI_PROVIDER", "PI_MODEL", "PI_REASONING_LEVEL")


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


def environment(ctx: Any) -> Mapping[str, str]:
    """Return pi's own environment with the session's variables, and the agent's programs first on ``PATH``.

    ``PI_CODING_AGENT=true`` lets scripts detect that an agent runs them.
    """
    env = {name: value for name, value in os.environ.items() if name not in _VARIABLES}
    env["PI_CODING_AGENT"] = "true"
    folder = getattr(ctx, "agent_dir", None) or env.get("PI_CODING_AGENT_DIR") or "~/.pi/agent"
    programs = os.path.join(os.path.expanduser(str(folder)), "bin")
    path = env.get("PATH", os.defpath)
    if programs not in path.split(os.pathsep):
        env["PATH"] = f"{programs}{os.pathsep}{path}"
    env.update(_session_variables(ctx))
    return env


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
