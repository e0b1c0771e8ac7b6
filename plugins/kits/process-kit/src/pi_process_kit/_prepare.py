"""What is to be started, after the plugins of the session were asked."""

from __future__ import annotations

import os
import shlex
import shutil
from typing import TYPE_CHECKING

from pi_process_kit._errors import ProcessFailure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pi_hookspecs import PiContext, SpawnRequest

__all__ = ["prepare", "with_folder"]


async def prepare(
    ctx: PiContext,
    argv: Sequence[str],
    *,
    purpose: str,
    cwd: str | None = None,
    env: Mapping[str, str] | None = None,
) -> SpawnRequest:
    """Return what to start for a program: the hook ``child_environment`` and all ``Launcher`` services were asked.

    Args:
        ctx: The tool's, the command's or the session's.
        argv: The program and its arguments.
        purpose: ``mcp``, ``lsp``, ``process`` or whatever describes it in a word.
        cwd: Where it runs; the session's working directory when None.
        env: Variables in addition to those of this process.

    Raises:
        PiError: A plugin refuses, or the program does not exist.
    """
    from pi_hookspecs.service_values import SpawnRequest

    whole = {**os.environ, **(env or {})}
    changed = await ctx.child_environment(whole, purpose=purpose, command=shlex.join(argv))
    request = SpawnRequest(
        argv=argv,
        cwd=os.path.join(os.fspath(ctx.cwd), cwd or ""),
        env=changed,
        purpose=purpose,
        call_id=getattr(ctx, "call_id", None),
    )
    return with_folder(await ctx.prepare_spawn(request))


def with_folder(request: SpawnRequest) -> SpawnRequest:
    """Return the request with the absolute path of its program, found on the ``PATH`` of its environment.

    Raises:
        ProcessFailure: There is no such program.
    """
    from attrs import evolve

    program, *rest = request.argv
    if os.path.isabs(program):
        return request
    if os.path.dirname(program):
        return evolve(request, argv=(os.path.join(request.cwd, program), *rest))
    found = shutil.which(program, path=request.env.get("PATH", os.defpath))
    if found is None:
        message = f"The program {program!r} is not on PATH. Install it, or change what starts it."
        raise ProcessFailure(message)
    return evolve(request, argv=(os.path.abspath(found), *rest))
