"""Changes the user's input (`?quick ...`), or handles it itself (`ping`, `time`)."""

from datetime import datetime

from pi_hookspecs import InputEvent, InputResult, PiContext, hookimpl


@hookimpl
def input(event: InputEvent, ctx: PiContext) -> InputResult | None:  # noqa: A001 - the event's name
    if event.source == "extension":
        return None  # a plugin sends exactly what it means
    if event.text.startswith("?quick "):
        return InputResult(text=f"Answer in one sentence: {event.text.removeprefix('?quick ')}")
    if event.text == "ping":
        ctx.ui.notify("pong")
        return InputResult(handled=True)
    if event.text == "time":
        ctx.ui.notify(datetime.now().astimezone().isoformat(timespec="seconds"))
        return InputResult(handled=True)
    return None
