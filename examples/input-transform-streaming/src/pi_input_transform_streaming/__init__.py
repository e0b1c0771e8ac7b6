"""Adds a note for the model to messages sent while it is working; other messages are unchanged."""

from pi_hookspecs import InputEvent, InputResult, hookimpl

ADVICE = {
    "steer": "(Said while you work; weigh it before you go on with the task.) ",
    "followUp": "(Said while you worked; finish the task first.) ",
}


@hookimpl
def input(event: InputEvent) -> InputResult | None:  # noqa: A001 - the event's name
    if event.streaming_behavior is None:
        return None
    return InputResult(text=ADVICE[event.streaming_behavior] + event.text)
