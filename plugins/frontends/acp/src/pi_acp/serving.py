"""Serves an editor from its first request until stdin ends or a signal arrives, and exits in time."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
from typing import TYPE_CHECKING, Any

from pi_acp.agent import Agent
from pi_acp.peer import Peer
from pi_client.lines import LineReader, LineWriter
from pi_core import OrderlyEnd, print_warning

if TYPE_CHECKING:
    from pi_acp.greeting import Greeted
    from pi_acp.start_options import StartOptions
    from pi_core import PluginHost

__all__ = ["serve"]

_LAST_SECONDS = 2.8
"""Time for an orderly end: editors get the exit code within three seconds."""


def serve(host: PluginHost, stdin: int, stdout: int, greeted: Greeted, options: StartOptions | None = None) -> int:
    """Serve until stdin ends; returns the exit code.

    Args:
        host: The plugins of the folder that pi was started in.
        stdin: The input descriptor.
        stdout: The output descriptor.
        greeted: What was already exchanged.
        options: What the sessions have in common.
    """
    gc.freeze()
    gc.enable()  # it was disabled while pi started
    return asyncio.run(_serve(host, stdin, stdout, greeted, options))


async def _serve(host: PluginHost, stdin: int, stdout: int, greeted: Greeted, options: StartOptions | None) -> int:
    asyncio.get_running_loop().set_exception_handler(_report)
    ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def end(code: int = 0) -> None:
        if not ended.done():
            ended.set_result(code)

    def stop() -> bool:
        end(signals.exit_code or 0)
        return True

    writer = LineWriter(stdout, end)
    peer = Peer(writer)
    with OrderlyEnd(stop) as signals:
        agent = Agent(peer, host, greeted, options)
        peer.serve(agent.requests, agent.notifications)
        LineReader(stdin, peer.on_lines, end, greeted.rest).start()
        code = await ended
        signals.cleaning_up()
        _end_in_time(code)
        await peer.stop()
        await agent.close()
        await writer.close()
    return code


def _end_in_time(code: int) -> None:
    """End the process after a grace period, even if a plugin or tool is still running; its programs end with it."""
    timer = threading.Timer(_LAST_SECONDS, os._exit, [code])
    timer.daemon = True
    timer.start()


def _report(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    error = context.get("exception")
    print_warning(context["message"] if error is None else f"{context['message']}: {type(error).__name__}: {error}")
