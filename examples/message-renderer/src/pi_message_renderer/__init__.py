"""Adds `/status-update TEXT`: a custom type of message, and how front ends and exports display it."""

from collections.abc import Sequence
from datetime import UTC, datetime
from textwrap import wrap

from pi_hookspecs import CustomMessage, PiAPI, PiContext, hookimpl, text_of

TYPE = "status-update"
SIGNS = {"warning": "!", "error": "x"}


@hookimpl
def activate(pi: PiAPI) -> None:
    @pi.register_message_renderer(TYPE)
    def show(message: CustomMessage, *, width: int, expanded: bool) -> Sequence[str]:
        details = message.details or {}
        sign = SIGNS.get(details.get("level", ""), "i")
        lines = wrap(f"[{sign}] {text_of(message.content)}", width)
        if expanded and "at" in details:
            lines.append(f"    at {details['at']}")
        return lines

    @pi.register_command("status-update", description="Tell the model something: /status-update [warning|error] TEXT")
    async def status_update(args: str, ctx: PiContext) -> None:
        level, _, rest = args.partition(" ")
        known = level in SIGNS and bool(rest)
        details = {"level": level if known else "info", "at": datetime.now(UTC).isoformat(timespec="seconds")}
        await pi.send_message(CustomMessage(custom_type=TYPE, content=rest if known else args, details=details))
