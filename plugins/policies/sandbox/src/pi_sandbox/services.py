"""The sandbox's services: every program starts inside, and ``read``, ``edit`` and ``write`` keep to the same policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve

from pi_sandbox.asked import is_asked_for

if TYPE_CHECKING:
    from pi_hookspecs import CommandOperations, PiContext, SomeFileOperations, SpawnRequest
    from pi_sandbox.state import Sandbox

__all__ = ["SandboxLauncher", "SandboxOperations"]

_OUTSIDE = frozenset({"key"})
"""Purposes of programs that run outside the sandbox: the commands that the user configured to print pi's own keys."""


class SandboxLauncher:
    """Implements ``Launcher``."""

    async def prepare(self, request: SpawnRequest, ctx: PiContext) -> SpawnRequest:
        """Return the program inside the sandbox; the unchanged request if the sandbox is off."""
        sandbox = None if request.purpose in _OUTSIDE else _sandbox(ctx)
        if sandbox is None:
            return request
        from pi_process_kit import with_folder

        policy, proxy = sandbox.policy, await sandbox.way()
        request = with_folder(evolve(request, env=policy.environment(request.env, proxy)))
        await sandbox.started(request, policy)
        return evolve(request, argv=tuple(sandbox.engine.argv(request.argv, policy, request.cwd, proxy)))


class SandboxOperations:
    """Implements ``ToolOperations``: the other tools read through programs, or list names."""

    def files(self, ctx: PiContext) -> SomeFileOperations | None:
        """Return operations that keep to the policy, for ``read``, ``edit`` and ``write``."""
        tool = getattr(ctx, "tool_name", None)
        if tool not in ("read", "edit", "write"):
            return None
        sandbox = _sandbox(ctx)
        if sandbox is None:
            return None
        from pi_sandbox.files import SandboxedFiles

        return SandboxedFiles(sandbox.policy, changes=tool != "read")

    def commands(self, ctx: PiContext) -> CommandOperations | None:
        """Return None: programs go through the launcher."""
        return None


def _sandbox(ctx: PiContext) -> Sandbox | None:
    """Return the sandbox of a session; None if it is off, in which case none of it is imported."""
    if not is_asked_for(ctx):
        return None
    from pi_sandbox.state import sandbox_of

    return sandbox_of(ctx)
