"""Keeps a secret out of the session file; the running conversation is not changed.

`to_wire` and `entry_from_wire` of `pluggypi-core` convert entries of all types to plain data and back. Apply a pattern
to each string in that data, as in [no-addresses](../../examples/no-addresses): in the JSON text, a line break is an
escape sequence, and a pattern that replaces part of it makes the JSON invalid.
"""

import json

from pi_core import entry_from_wire, to_wire
from pi_hookspecs import SessionBeforeAppendResult, hookimpl

WORD = "open-sesame"


@hookimpl
def session_before_append(event):
    texts = [json.dumps(to_wire(entry)).replace(WORD, "[secret]") for entry in event.entries]
    return SessionBeforeAppendResult(entries=[entry_from_wire(json.loads(text)) for text in texts])


# Test

import pytest

from pi_testing import text


@pytest.mark.pi(entry_points=["session-jsonl"])
async def test_example(pi_session, script):
    script.turn(text("It is kept."))
    await pi_session.prompt("The word is open-sesame")

    stored = pi_session.session_file.read_text()
    assert "The word is [secret]" in stored
    assert "open-sesame" not in stored
    assert "open-sesame" in pi_session.messages[0].text
