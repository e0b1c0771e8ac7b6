"""Shows a desktop notification, through the terminal, when an answer is done."""

import sys

from pi_hookspecs import AgentEndEvent, hookimpl

SEQUENCE = "\x1b]777;notify;{title};{body}\x07"
"""OSC 777, which Ghostty, iTerm2, WezTerm and others know; the rest ignore it."""


@hookimpl
def agent_end(event: AgentEndEvent) -> None:
    # Not stdout: that belongs to the front end, which may be speaking JSON there.
    if not event.will_retry and sys.stderr.isatty():
        body = "Something went wrong" if event.error else "Ready for input"
        sys.stderr.write(SEQUENCE.format(title="pi", body=body))
        sys.stderr.flush()
