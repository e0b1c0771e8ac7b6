"""Watches a file: text that is written to it is sent to the model, which answers immediately."""

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
            content = await asyncio.to_thread(_take, file)
            if content:
                message = CustomMessage(custom_type="file-trigger", content=content)
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
    """Return the content of the file, and empty it."""
    try:
        content = file.read_text(encoding="utf-8").strip()
        if content:
            file.write_text("")
    except (OSError, UnicodeDecodeError):
        return ""
    return content
