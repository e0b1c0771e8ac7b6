"""The tool ``bash``: runs a command, streams its output, and formats the result for the model."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pi_hookspecs.tools import Tool, ToolAnnotations, ToolResult
from pi_tools.failure import ToolFailure
from pi_tools.settings import setting
from pi_tools.text import as_count, clean, number_text
from pi_tools.workspace import command_operations, secret_stream

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from pi_hookspecs.abort import AbortSignal
    from pi_hookspecs.tool_context import ToolContext
    from pi_hookspecs.tools import ToolUpdate
    from pi_tools.commands.output import Output
    from pi_tools.options import BashOperations, BashOptions, SpawnContext

__all__ = ["bash_tool", "operations_for", "prepare", "run_command", "timeout_of"]

_PARAMETERS = {
    "type": "object",
    "properties": {
        "command": {"type": "string", "description": "What bash is to run"},
        "timeout": {"type": "number", "description": "Seconds until it is ended; without it there is no limit"},
    },
    "required": ["command"],
}

_BACKGROUND = {
    "background": {
        "type": "boolean",
        "description": "Return at once and leave it running, for a server or a watcher; the tool process watches it",
    },
    "name": {"type": "string", "description": "What to call it in the background"},
}

_LONGEST_NAME = 80
"""Characters of the name of a process that has none from the model."""
_MAX_TIMEOUT = 2147483.647
_UPDATE_EVERY = 0.1
"""Seconds between two updates of a command that keeps writing."""


def bash_tool(cwd: str | None = None, options: BashOptions | None = None) -> Tool:
    """Return the tool; without ``cwd`` it works where the session does, and starts background processes of it."""

    async def execute(
        _call_id: str, params: dict[str, Any], signal: AbortSignal, on_update: ToolUpdate, ctx: ToolContext
    ) -> ToolResult:
        timeout = timeout_of(params.get("timeout"))
        if signal.aborted:
            raise ToolFailure("Command aborted")
        if params.get("background"):
            return await _start(params, options, signal=signal, ctx=ctx)
        spawn = await prepare(clean(params["command"]), cwd or str(ctx.cwd), ctx, options, purpose="bash")
        return await run_command(spawn, timeout, signal=signal, on_update=on_update, ctx=ctx, options=options)

    return Tool(
        name="bash",
        description=(
            "Run a bash command in the working directory and return its output, standard output and standard error "
            "together. Of long output the last 2000 lines or 50KB are shown, whichever is less, and all of it is in "
            "a file that is named. The command gets no input and no terminal. timeout is in seconds."
        ),
        parameters=_PARAMETERS if cwd is not None else _with_background(_PARAMETERS),
        execute=execute,
        annotations=ToolAnnotations(read_only=False, destructive=True, open_world=True),
        prompt_snippet="Run bash commands",
        constrained_sampling="prefer",
    )


def _with_background(parameters: dict[str, Any]) -> dict[str, Any]:
    return {**parameters, "properties": {**parameters["properties"], **_BACKGROUND}}


async def _start(params: dict[str, Any], options: BashOptions | None, *, signal: AbortSignal, ctx: Any) -> ToolResult:
    """Start the command in the background.

    Raises:
        ToolFailure: It has a timeout, or is to run where nothing can be left running.
    """
    if params.get("timeout"):
        raise ToolFailure("A command in the background has no timeout; the tool process stops it.")
    if command_operations(ctx, options) is not None or getattr(ctx, "processes", None) is None:
        raise ToolFailure(
            "This session's commands run where nothing can be left running. Run the command without background."
        )
    from pi_tools.commands.watched import start

    command = _runnable(params["command"], ctx, options)
    return await start(ctx, command, params.get("name") or _title(params["command"]), signal)


def _title(command: str) -> str:
    """Return the beginning of a command: it is a part of every answer about its process."""
    text = clean(command).strip()
    first = text.partition("\n")[0].rstrip()
    return text if text == first and len(text) <= _LONGEST_NAME else f"{first[:_LONGEST_NAME].rstrip()} …"


def timeout_of(value: float | None) -> float | None:
    """Return the seconds after which a command is ended.

    Raises:
        ToolFailure: They make no sense.
    """
    if not value:  # models that fill in every parameter write 0 for no limit
        return None
    if value != value or value == math.inf or value <= 0:  # noqa: PLR0124 - the test for NaN; an integer may be too big for isfinite
        raise ToolFailure("Invalid timeout: must be a finite number of seconds above 0; leave it out for no limit")
    if value > _MAX_TIMEOUT:
        raise ToolFailure(f"Invalid timeout: maximum is {_MAX_TIMEOUT} seconds")
    return value


async def prepare(command: str, cwd: str, ctx: Any, options: BashOptions | None, *, purpose: str) -> SpawnContext:
    """Return command, directory and environment, after settings, the hook ``child_environment`` and the spawn hook."""
    from pi_tools.commands.shell import environment
    from pi_tools.options import SpawnContext

    command = _runnable(command, ctx, options)
    env, ask = environment(ctx, user=purpose == "user_bash"), getattr(ctx, "child_environment", None)
    if ask is not None:
        env = await ask(env, purpose=purpose, command=command)
    spawn = SpawnContext(command, cwd, env)
    return spawn if options is None or options.spawn_hook is None else options.spawn_hook(spawn)


def _runnable(command: str, ctx: Any, options: BashOptions | None) -> str:
    """Return a command with what the settings put before it.

    Raises:
        ToolFailure: It contains a NUL.
    """
    if "\0" in command:
        raise ToolFailure("Invalid command: it contains a NUL character, which no program can be given.")
    prefix = setting(ctx, "shellCommandPrefix", options and options.command_prefix)
    return f"{prefix}\n{clean(command)}" if prefix else clean(command)


async def run_command(
    spawn: SpawnContext,
    seconds: float | None,
    *,
    signal: AbortSignal,
    on_update: ToolUpdate,
    ctx: Any,
    options: BashOptions | None,
) -> ToolResult:
    """Run a prepared command to its end, and return its output as the tool's result."""
    from pi_hookspecs.errors import Aborted
    from pi_tools.commands.output import DEFAULT_FILE_CAP, Output

    cap = setting(ctx, "bash.maxOutputFileBytes", options and options.max_output_file_bytes, DEFAULT_FILE_CAP)
    if not isinstance(cap, int | float):
        raise ToolFailure(f"Setting bash.maxOutputFileBytes is {cap!r}, which is not a number of bytes. Change it.")
    output = Output(as_count(cap, DEFAULT_FILE_CAP), secret_stream(ctx))
    updates = _Updates(output, on_update)
    code, verdict = None, ""
    try:
        code = await operations_for(ctx, options, "bash").exec(
            spawn.command, spawn.cwd, on_data=updates.take, signal=signal, timeout=seconds, env=spawn.env
        )
    except TimeoutError as timeout:
        verdict = f"Command timed out after {number_text(seconds or 0)} seconds{_running_at(timeout)}"
    except Aborted:
        verdict = "Command aborted"
    finally:
        updates.stop()
        output.close()
    if code:
        verdict = f"Command exited with code {code}"
    return _result(output, verdict, silent="(no output)" if code is not None else "")


_MOST_NAMED = 5
_LONGEST_NAME = 100


def _running_at(timeout: TimeoutError) -> str:
    """Return a sentence about what a command was still running, besides its shell; "" for nothing, or if unknown."""
    running = getattr(timeout, "running", ())
    if not running:
        return ""
    lines = [line if len(line) <= _LONGEST_NAME else f"{line[:_LONGEST_NAME]}..." for line in running[:_MOST_NAMED]]
    more = f"; and {len(running) - _MOST_NAMED} more" if len(running) > _MOST_NAMED else ""
    return f"\nStill running then, and ended: {clean('; '.join(lines))}{more}"


def _result(output: Output, verdict: str, silent: str) -> ToolResult:
    text, details = output.show()
    parts = [part for part in (text or silent, verdict) if part]
    return ToolResult.text("\n\n".join(parts), details=details, is_error=bool(verdict))


def operations_for(ctx: Any, options: BashOptions | None, purpose: str) -> BashOperations:
    """Return the operations of the options or a plugin, else those of this machine, configured by the settings."""
    operations: BashOperations | None = command_operations(ctx, options)
    if operations is not None:
        return operations
    from pi_tools.commands.local import LocalBashOperations
    from pi_tools.workspace import StartPolicy

    keep = setting(ctx, "bash.keepBackground", options and options.keep_background)
    return LocalBashOperations(
        shell_path=setting(ctx, "shellPath", options and options.shell_path),
        keep_background=keep if isinstance(keep, bool) else None,
        session=str(getattr(getattr(ctx, "session", None), "id", "")),
        start_policy=StartPolicy(ctx, purpose),
    )


class _Updates:
    """Throttles partial results: at once and then at most every tenth of a second, on the event loop."""

    def __init__(self, output: Output, on_update: Callable[[ToolResult], None]) -> None:
        import asyncio

        self._loop = asyncio.get_running_loop()
        self._output = output
        self._on_update = on_update
        self._timer: asyncio.TimerHandle | None = None
        self._asked = self._stopped = False
        on_update(ToolResult())  # the command has begun

    def take(self, chunk: bytes) -> None:
        """Take output, from any thread."""
        self._output.feed(chunk)
        if not self._asked and not self._stopped:
            self._asked = True
            self._loop.call_soon_threadsafe(self._ask)

    def _ask(self) -> None:
        if not self._stopped and self._timer is None:
            self._show()

    def _show(self) -> None:
        self._timer = None
        if self._asked and not self._stopped:
            self._asked = False
            text, details = self._output.show()
            self._on_update(ToolResult.text(text, details=details))
            self._timer = self._loop.call_later(_UPDATE_EVERY, self._show)

    def stop(self) -> None:
        """Stop the updates."""
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()
