"""Watches a file: what somebody writes into it is a message to the model, which answers at once."""

import asyncio
from pathlib import Path

from pi_hookspecs import CustomMessage, PiAPI, PiContext, SessionStartEvent, hookimpl

SECONDS = 0.2
"""Between two looks."""


@hookimpl
def activate(pi: PiAPI) -> None:
    pi.register_flag("trigger-file", type=str, default=".pi/trigger.txt", description="File whose text pi answers")
    watching: list[asyncio.Task[None]] = []

    async def watch(file: Path) -> None:
        while True:
            said = await asyncio.to_thread(_take, file)
            if said:
                message = CustomMessage(custom_type="file-trigger", content=said)
                pi.send_message(message, trigger_turn=True, deliver_as="followUp")
            await asyncio.sleep(SECONDS)

    @pi.on("session_start")
    async def begin(event: SessionStartEvent, ctx: PiContext) -> None:
        watching.append(asyncio.create_task(watch(ctx.cwd / str(pi.get_flag("trigger-file")))))

    @pi.on("session_shutdown")
    def end() -> None:
        while watching:
            watching.pop().cancel()


def _take(file: Path) -> str:
    """Return what the file says, and empty it."""
    try:
        said = file.read_text(encoding="utf-8").strip()
        if said:
            file.write_text("")
    except (OSError, UnicodeDecodeError):
        return ""
    return said
