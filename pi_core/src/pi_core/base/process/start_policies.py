"""Policies that the sessions of a process apply to commands that print keys; no session owns these commands."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from pi_hookspecs import SpawnRequest

    Policy: TypeAlias = Callable[[Sequence[str], str, Mapping[str, str], str], Awaitable[SpawnRequest]]

__all__ = ["StartPolicies"]


class StartPolicies:
    """The policies of the sessions that share a store of keys; the policy of the latest session applies."""

    def __init__(self) -> None:
        self.present: list[Policy] = []

    def add(self, policy: Policy) -> Callable[[], None]:
        """Add a session's policy, which maps argv, folder, environment and command to a request; return its remover."""
        self.present.append(policy)
        return lambda: self.present.remove(policy) if policy in self.present else None

    async def prepare(self, command: str, environ: Mapping[str, str]) -> SpawnRequest:
        """Return the request to start a shell command, as the policy has changed it.

        Raises:
            PiError: The policy refuses to start the command.
        """
        shell = (os.environ.get("COMSPEC", "cmd.exe"), "/c") if sys.platform == "win32" else ("/bin/sh", "-c")
        return await self.present[-1]((*shell, command), str(Path.cwd()), environ, command)
