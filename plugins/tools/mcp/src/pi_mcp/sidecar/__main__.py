"""Runs the sidecar until pi closes its standard input."""

from __future__ import annotations

import asyncio
import os
import sys

from pi_mcp.sidecar.pipe import Pipe
from pi_mcp.sidecar.requests import Requests


async def main() -> None:
    """Answer the requests of pi."""
    out = os.dup(1)
    os.dup2(2, 1)  # what a library prints must not get between the lines for pi
    pipe = await Pipe.connect(0, out)
    requests = Requests(pipe)
    try:
        async for message in pipe:
            requests.take(message)
    finally:
        await requests.close()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        from pi_mcp.sidecar.log import start_log

        start_log(sys.argv[1])
    asyncio.run(main())
