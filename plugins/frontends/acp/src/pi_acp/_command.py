"""``pi acp`` from beginning to end: its arguments, streams and signals, and that it ends in time."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import threading
from typing import TYPE_CHECKING, Any

from pi_client.lines import LineReader, LineWriter
from pi_core.base.process.signals import OrderlyEnd
from pi_core.base.process.streams import own_streams
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from pi_core.host import PluginHost

__all__ = ["run", "warn"]

_HELP = """\
Usage: pi acp

Serve an editor: the Agent Client Protocol (ACP) as lines of JSON on stdin and
stdout, until stdin ends. The editor starts it; see docs/acp.md for the
settings of Zed, Neovim, JetBrains IDEs and Toad.

  pi acp auth login   Sign in, as 'pi auth login' does; editors start it in a terminal
"""

_LAST_SECONDS = 2.8
"""Time for an orderly end: editors get the exit code within three seconds."""


def run(arguments: list[str], host: PluginHost) -> int:
    """Serve until stdin ends; returns the exit code.

    Raises:
        UserError: The arguments are not known.
    """
    if arguments and arguments[0] in ("-h", "--help"):
        sys.stdout.write(_HELP)
        return 0
    if arguments and arguments[0] == "auth":  # editors append the arguments of a sign-in to those that start the agent
        found = host.find("register_subcommands", "auth")
        if found is None:
            raise UserError("'pi acp auth' needs the plugin of the command line, which is disabled")
        return int(found.thing.run(arguments[1:], host))
    if arguments:
        error = UserError(f"'pi acp' takes no arguments, not {arguments[0]!r}. See pi acp --help")
        error.exit_code = 2
        raise error
    gc.freeze()
    gc.enable()  # it was off while pi started
    with own_streams() as (stdin, stdout):
        return asyncio.run(_serve(host, stdin, stdout))


def warn(message: str) -> None:
    """Print a line for people; editors keep it in a log."""
    if sys.stderr is not None:
        print(f"Warning: {' '.join(message.split())}", file=sys.stderr, flush=True)  # noqa: T201 - stdout is the protocol's


async def _serve(host: PluginHost, stdin: int, stdout: int) -> int:
    from pi_acp._peer import Peer

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
        from pi_acp._agent import Agent

        agent = Agent(peer, host)
        peer.serve(agent.requests, agent.notifications)
        LineReader(stdin, peer.on_lines, end).start()
        code = await ended
        signals.cleaning_up()
        _end_in_time(code)
        await peer.stop()
        await agent.close()
        await writer.close()
    return code


def _end_in_time(code: int) -> None:
    """End the process after a while, whatever a plugin or a tool still does; its programs end with it."""
    timer = threading.Timer(_LAST_SECONDS, os._exit, [code])
    timer.daemon = True
    timer.start()


def _report(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    error = context.get("exception")
    warn(context["message"] if error is None else f"{context['message']}: {type(error).__name__}: {error}")
