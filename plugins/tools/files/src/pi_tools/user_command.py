"""The user's own commands (``!``): run and cut like those of ``bash``, and returned as a message.

The message has the tail of the output without a notice. Fields of the message say that it was truncated and which
file has all of it; from them the model gets one line, so a notice in the text would be a second one.
"""

from __future__ import annotations

import asyncio
import codecs
from typing import TYPE_CHECKING, Any

from pi_hookspecs import Aborted, BashExecutionMessage
from pi_tools.bash import operations_for, prepare
from pi_tools.options import BashOptions

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_hookspecs import CommandRequest, PiContext

__all__ = ["ShellRunner"]


class ShellRunner:
    """Implements ``CommandRunner`` with the operations of ``bash``."""

    async def run_command(self, request: CommandRequest, ctx: PiContext) -> BashExecutionMessage:
        """Run a command on this machine, or with a plugin's operations.

        Raises:
            ToolFailure: The command cannot be run at all; the message says why.
        """
        from pi_tools.commands.output import Output
        from pi_tools.workspace import secret_stream

        options = BashOptions(operations=request.operations)
        spawn = await prepare(request.command, request.cwd, ctx, options, purpose="user_bash")
        output, decoder = Output(clean=secret_stream(ctx)), _TextDecoder(request.on_output)
        code: int | None = None
        cancelled = False

        def take(chunk: bytes) -> None:
            output.feed(chunk)
            decoder.feed(chunk)

        try:
            code = await operations_for(ctx, options, "user_bash").exec(
                spawn.command, spawn.cwd, on_data=take, signal=request.signal, timeout=None, env=spawn.env
            )
        except Aborted:
            cancelled = True
        finally:
            output.close()
            decoder.end()
        text, details = output.show()
        return BashExecutionMessage(
            command=request.command,
            output=text if details is None else details["truncation"]["content"],
            exit_code=code,
            cancelled=cancelled,
            truncated=details is not None,
            full_output_path=(details or {}).get("fullOutputPath"),
        )


class _TextDecoder:
    """Decodes output from any thread and passes it on as text on the event loop; characters are never split."""

    def __init__(self, on_output: Callable[[str], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._on_output = on_output
        self._decoder: Any = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, chunk: bytes) -> None:
        """Take output."""
        self._loop.call_soon_threadsafe(self._pass_on, chunk, False)  # noqa: FBT003 - no keywords here

    def end(self) -> None:
        """Pass on an incomplete last character."""
        self._pass_on(b"", final=True)

    def _pass_on(self, chunk: bytes, final: bool) -> None:  # noqa: FBT001 - as above
        text = self._decoder.decode(chunk, final)
        if text:
            self._on_output(text)
