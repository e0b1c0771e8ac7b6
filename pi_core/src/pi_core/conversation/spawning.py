"""Asks plugins before a program is started: for its environment, and for how it is started."""

from __future__ import annotations

import os
import shlex
from functools import partial
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, NoReturn

from pi_core.agent.safe_text import safe_repr, summary_and_traceback
from pi_core.base.process.program import run_program
from pi_core.hooks.containment import Contained
from pi_hookspecs import ChildEnvironmentEvent, PiError, SpawnRequest
from pi_hookspecs.specs import tools as tool_specs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pi_core.conversation.runtime import Runtime
    from pi_core.host.registry import Registered
    from pi_hookspecs import AbortSignal, ExecResult, PiContext

__all__ = ["ask_environment", "ask_launchers", "exec_program", "prepare_program"]


async def ask_environment(
    runtime: Runtime, ctx: PiContext, env: Mapping[str, str], purpose: str, command: str
) -> Mapping[str, str]:
    """Return the environment after the ``child_environment`` hooks.

    Raises:
        HookRefused: A plugin failed.
    """
    event = ChildEnvironmentEvent(env=dict(env), purpose=purpose, command=command)
    changed: Any = await runtime.hooks.call(tool_specs.child_environment, event, ctx)
    return env if changed is None else changed


async def ask_launchers(runtime: Runtime, ctx: PiContext, request: SpawnRequest) -> SpawnRequest:
    """Pass the request through the ``Launcher`` services, one after another, and return the result.

    Raises:
        PiError: A service refused, cannot be loaded, or failed.
    """
    for provider in runtime.host.services("Launcher"):
        with Contained(partial(_fail, runtime, provider, request), passing=PiError):
            answer = provider.thing.prepare(request, ctx)
            prepared = await answer if isawaitable(answer) else answer
            if not isinstance(prepared, SpawnRequest):
                raise TypeError(f"it returned {safe_repr(prepared)}, which is not of type SpawnRequest")
        request = prepared
    return request


def _fail(runtime: Runtime, provider: Registered, request: SpawnRequest, error: BaseException) -> NoReturn:
    line, stack = summary_and_traceback(error, getattr(provider.thing, "prepare", None))
    plugin = provider.plugin
    program = request.argv[0] if request.argv else ""
    message = f"Plugin {plugin!r} failed to prepare the start of {program!r}, which was not started: {line}"
    runtime.report_plugin_error(plugin, "Launcher.prepare", message, stack)
    raise PiError(message) from error


async def prepare_program(
    ctx: PiContext, argv: Sequence[str], cwd: str, env: Mapping[str, str], *, purpose: str, command: str | None = None
) -> SpawnRequest:
    """Return the request to start a program with, after plugins have changed its environment and its command.

    Raises:
        PiError: The program must not be started.
    """
    changed = await ctx.child_environment(env, purpose=purpose, command=command or shlex.join(argv))
    call_id = getattr(ctx, "call_id", None)
    request = SpawnRequest(argv=argv, cwd=cwd, env=changed, purpose=purpose, call_id=call_id)
    return await ctx.prepare_spawn(request)


async def exec_program(
    ctx: PiContext,
    command: str,
    args: Sequence[str],
    cwd: Path,
    env: Mapping[str, str] | None,
    *,
    signal: AbortSignal | None,
    timeout: float | None,  # noqa: ASYNC109 - as run_program
) -> ExecResult:
    """Run a program for ``ctx.exec``; ``env`` is in addition to the variables of this process."""
    whole = {**os.environ, **(env or {})}
    request = await prepare_program(
        ctx, (os.fspath(command), *map(os.fspath, args)), os.fspath(cwd), whole, purpose="exec"
    )
    program, *rest = request.argv
    return await run_program(program, rest, cwd=request.cwd, env=request.env, signal=signal, timeout=timeout)
