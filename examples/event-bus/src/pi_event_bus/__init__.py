"""Both ends of the event bus: `/emit TEXT` emits on the channel `greetings`, and a subscriber notifies the user."""

from typing import Any

from pi_hookspecs import PiAPI, PiContext, SessionStartEvent, hookimpl


@hookimpl
def activate(pi: PiAPI) -> None:
    @pi.on("session_start")
    def begin(event: SessionStartEvent, ctx: PiContext) -> None:
        @pi.events.on("greetings")
        def hear(data: dict[str, Any]) -> None:
            ctx.ui.notify(f"{data['from']} says: {data['text']}")

    @pi.register_command("emit", description="Tell the other plugins something")
    def emit(args: str, ctx: PiContext) -> None:
        pi.events.emit("greetings", {"from": pi.plugin, "text": args})
