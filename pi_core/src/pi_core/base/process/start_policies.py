"""What the sessions of a process want asked before a key command is started, which belongs to none of them."""

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
    """The policies of the sessions that share a store of keys; that of the latest one is asked."""

    def __init__(self) -> None:
        self.present: list[Policy] = []

    def add(self, policy: Policy) -> Callable[[], None]:
        """Add a session's policy: argv, folder, environment and command to the request; returns how to remove it."""
        self.present.append(policy)
        return lambda: self.present.remove(policy) if policy in self.present else None

    async def prepare(self, command: str, environ: Mapping[str, str]) -> SpawnRequest:
        """Return what to start for a shell command.

        Raises:
            PiError: It must not be started.
        """
        shell = (os.environ.get("COMSPEC", "cmd.exe"), "/c") if sys.platform == "win32" else ("/bin/sh", "-c")
        return await self.present[-1]((*shell, command), str(Path.cwd()), environ, command)
