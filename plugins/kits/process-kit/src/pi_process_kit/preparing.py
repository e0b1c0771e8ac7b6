"""Prepares the start of a program: lets the session's plugins change its environment and its command."""

from __future__ import annotations

import os
import shlex
import shutil
from typing import TYPE_CHECKING

from pi_process_kit.errors import ProcessFailure

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
    """Return the request to start a program with, after the ``child_environment`` hooks and all ``Launcher`` services.

    Args:
        ctx: The ``ctx`` of the tool, the command or the session.
        argv: The program and its arguments.
        purpose: One word that describes the purpose, such as ``mcp``, ``lsp`` or ``process``.
        cwd: The working directory. None uses the session's working directory.
        env: Environment variables in addition to this process's own.

    Raises:
        PiError: A plugin refused the start, or the program does not exist.
    """
    from pi_hookspecs.programs import SpawnRequest

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
