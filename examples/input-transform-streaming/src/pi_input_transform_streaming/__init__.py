"""Adds a note for the model to messages sent while it is working; other messages are unchanged."""

from pi_hookspecs import InputEvent, InputResult, hookimpl

ADVICE = {
    "steer": "(Sent while you work; consider it before you continue the task.) ",
    "followUp": "(Sent while you worked; finish the task first.) ",
}


@hookimpl
def input(event: InputEvent) -> InputResult | None:  # noqa: A001 - the event's name
    if event.streaming_behavior is None:
        return None
    return InputResult(text=ADVICE[event.streaming_behavior] + event.text)
