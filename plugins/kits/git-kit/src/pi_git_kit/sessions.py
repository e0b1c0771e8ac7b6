"""Lets the plugins of a session change how git is started, so that a sandbox confines it too."""

from __future__ import annotations

import asyncio
import shlex
from typing import TYPE_CHECKING

from attrs import evolve

if TYPE_CHECKING:
    from pi_git_kit.starting import Prepare
    from pi_hookspecs import PiContext, SpawnRequest

__all__ = ["ask_plugins"]


def ask_plugins(ctx: PiContext) -> Prepare:
    """Return a function that asks the plugins of a session before git is started.

    Call this on the session's event loop, and the functions that start git in a thread (``asyncio.to_thread``).
    """
    loop = asyncio.get_running_loop()

    async def ask(request: SpawnRequest) -> SpawnRequest:
        command = shlex.join(request.argv)
        env = await ctx.child_environment(request.env, purpose=request.purpose, command=command)
        return await ctx.prepare_spawn(evolve(request, env=env, call_id=getattr(ctx, "call_id", None)))

    def prepare(request: SpawnRequest) -> SpawnRequest:
        return asyncio.run_coroutine_threadsafe(ask(request), loop).result()

    return prepare
