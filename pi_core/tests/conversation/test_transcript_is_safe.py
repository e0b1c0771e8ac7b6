"""Whatever a hook does to what it was given, the conversation stays as it was."""

from __future__ import annotations

from contextlib import suppress

import pytest

from pi_testing import text, tool_call

pytestmark = pytest.mark.pi(plugins=[])

HOLDERS = ("message", "messages", "tool_results", "result", "details", "content", "arguments", "tool_call", "data")
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
        for name in (
            "message",
            "messages",
            "tool_results",
            "result",
            "details",
            "content",
            "arguments",
            "tool_call",
            "data",
        ):
            spoil(getattr(value, name, None), seen)
        spoil(getattr(value, "assistant_message_event", None), seen)
        with suppress(TypeError):  # of what has none, it stays none
            spoil(getattr(value, "extra", None), seen)


@pytest.mark.parametrize("hook", HOOKS)
async def test_a_hook_cannot_change_the_transcript(hook, pi_session, script):
    script.turn(tool_call("read", path="a.txt"), text("first")).turn(text("second"))
    pi_session.hooks.add("spoiler", hook, lambda event, ctx: spoil(event))

    await pi_session.prompt("go")

    assert "evil" not in repr(pi_session.messages)
    assert "evil" not in repr(script.requests[1].messages)


LOOKS = {
    "context": lambda session: list(session.context().messages),
    "backwards": lambda session: list(reversed(session.context().messages[1:])),
    "entries": lambda session: list(session.entries()),
    "branch": lambda session: list(session.branch()),
    "entry": lambda session: [session.entry(each.id) for each in session.entries()],
    "children": lambda session: [child for each in session.entries() for child in session.children(each.id)],
    "tree": lambda session: nodes_below(session.tree()),
}


def nodes_below(nodes):
    return [entry for node in nodes for entry in (node.entry, *nodes_below(node.children))]


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
async def test_who_looks_at_the_session_cannot_change_it(look, pi_session, script):
    script.turn(tool_call("read", path="a.txt"), text("first")).turn(text("second")).turn(text("third"))
    pi_session.session_manager.append_custom_entry("state", {"on": True})
    seen = []

    def spoil_what_is_seen(event, ctx):
        seen.append(len(look(ctx.session)))
        spoil(look(ctx.session))

    pi_session.hooks.add("spoiler", "turn_end", spoil_what_is_seen)

    await pi_session.prompt("go")
    pi_session.agent.replace_messages(pi_session.session_manager.build_session_context().messages)
    await pi_session.prompt("again")

    assert seen[0] > 0
    assert "evil" not in repr(pi_session.messages)
    assert "evil" not in repr(list(pi_session.session_manager.get_entries()))
    assert "evil" not in repr([each.messages for each in script.requests])
