"""Runs ``--mode rpc``: its streams, its signals, and its warnings on stderr."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Any

from pi_client.lines import LineReader
from pi_core import CleanLines, OrderlyEnd, own_streams, print_warning
from pi_rpc.outbox import Outbox
from pi_rpc.server import Server
from pi_rpc_kit.ui import RpcUI

if TYPE_CHECKING:
    from pi_core import AgentSession

__all__ = ["run_rpc"]


async def run_rpc(session: AgentSession, options: Any) -> int:
    """Serve the session on stdin and stdout; returns the exit code.

    Raises:
        BrokenPipeError: The client no longer reads.
        OSError: Output cannot be written, for example because the disk is full.
        PiError: The session could not start.
    """
    if options.prompts:
        print_warning("messages on the command line are ignored in RPC mode; send the command prompt")

    def stop() -> bool:
        server.end(signals.exit_code or 0)
        return True

    with own_streams() as (stdin, stdout):
        outbox = Outbox(stdout, lambda: server.end(0), CleanLines.asked_for(session))
        session.ui, session.has_ui = RpcUI(outbox, clean=CleanLines.texts_for(session)), True
        server = Server(session, outbox, session.ui)
        server.reader = LineReader(stdin, server.on_lines, server.on_end_of_input)
        with OrderlyEnd(stop) as signals:
            for problem in session.problems():
                print_warning(problem)
            server.reader.start()
            code = await server.serve()
    if outbox.failure is not None:
        hung_up = isinstance(outbox.failure, ConnectionError) or outbox.failure.errno == errno.EIO  # EIO: a terminal
        raise BrokenPipeError if hung_up else outbox.failure
    return code
