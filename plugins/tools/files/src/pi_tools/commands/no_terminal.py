"""The variables of programs that would wait for a terminal, which commands do not have: editors, pagers, passwords."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["without_terminal"]

_PAGERS = ("PAGER", "GIT_PAGER", "MANPAGER", "SYSTEMD_PAGER", "GH_PAGER", "AWS_PAGER", "PSQL_PAGER")
_EDITORS = ("EDITOR", "VISUAL")
_OTHER_EDITORS = (
    "SVN_EDITOR",
    "HGEDITOR",
    "BZR_EDITOR",
    "P4EDITOR",
    "KUBE_EDITOR",
    "GH_EDITOR",
    "SUDO_EDITOR",
    "FCEDIT",
)
"""Variables that come before those above, where they are set."""

_GIVEN = {"GIT_TERMINAL_PROMPT": "0", **dict.fromkeys(_PAGERS, "cat")}


def without_terminal(env: Mapping[str, str], *, user: bool) -> dict[str, str]:
    """Return an environment in which editors and questions for passwords end at once, and pagers just print.

    Args:
        env: The environment.
        user: Whether the user runs the command: then an editor and questions with a window of their own may open.
    """
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "no_editor.sh")
    own = ["--user", env.get("VISUAL") or env.get("EDITOR", "")] if user else []
    none, sequence = shlex.join(["sh", script, *own]), shlex.join(["sh", script, "--sequence", *own])
    changed = {name: value for name, value in env.items() if name != "GPG_TTY"}  # pi's own terminal: its screen
    changed |= dict.fromkeys(_EDITORS, none) | {name: none for name in _OTHER_EDITORS if name in env} | _GIVEN
    changed |= {"GIT_EDITOR": none, "GIT_SEQUENCE_EDITOR": sequence}
    if not user:
        changed |= {"GIT_ASKPASS": env.get("GIT_ASKPASS", ""), "SSH_ASKPASS_REQUIRE": "never"}
    return changed
