"""Runs commands that are written as `!{command}` in a prompt, and replaces them by their output."""

import re

from pi_hookspecs import InputEvent, InputResult, PiContext, hookimpl

INLINE = re.compile(r"!\{([^{}]+)\}")
SECONDS = 30


@hookimpl
async def input(event: InputEvent, ctx: PiContext) -> InputResult | None:  # noqa: A001 - the event's name
    if event.source == "extension" or not INLINE.search(event.text):
        return None  # what plugins say may come from anywhere: only the user's own words are run
    text, end = "", 0
    for found in INLINE.finditer(event.text):
        text += event.text[end : found.start()] + await _output(found[1], ctx)
        end = found.end()
    return InputResult(text=text + event.text[end:])


async def _output(command: str, ctx: PiContext) -> str:
    done = await ctx.exec("bash", ["-c", command], timeout=SECONDS)
    if done.killed:
        return f"[{command}: no end after {SECONDS} s]"
    if done.code != 0:
        return f"[{command}: exit code {done.code}] {(done.stderr or done.stdout).strip()}"
    return done.stdout.strip()
