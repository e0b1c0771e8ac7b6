"""Whatever a hook does to what it was given, the conversation stays as it was."""

from __future__ import annotations

import pytest

from pi_testing import text, tool_call

pytestmark = pytest.mark.pi(plugins=[])

HOOKS = ["message_start", "message_update", "tool_execution_end", "turn_end", "agent_end", "agent_before_settle"]


def spoil(value, seen=None):
    """Change every dict that can be reached."""
    seen = set() if seen is None else seen
    if id(value) in seen or isinstance(value, str | int | float | type | None):
        return
    seen.add(id(value))
    if isinstance(value, dict):
        for each in list(value.values()):
            spoil(each, seen)
        value["evil"] = 1
    elif isinstance(value, list | tuple):
        for each in value:
            spoil(each, seen)
    else:
        for name in ("message", "messages", "tool_results", "result", "details", "content", "arguments", "tool_call"):
            spoil(getattr(value, name, None), seen)
        spoil(getattr(value, "assistant_message_event", None), seen)


@pytest.mark.parametrize("hook", HOOKS)
async def test_a_hook_cannot_change_the_transcript(hook, pi_session, script):
    script.turn(tool_call("read", path="a.txt"), text("first")).turn(text("second"))
    pi_session.hooks.add("spoiler", hook, lambda event, ctx: spoil(event))

    await pi_session.prompt("go")

    assert "evil" not in repr(pi_session.messages)
    assert "evil" not in repr(script.requests[1].messages)
