"""The status line follows the turns of an answer."""

from __future__ import annotations

from pi_testing import text, tool_call


async def test_status_follows_the_turns(pi_session, script, fake_ui, fake_tools):
    seen = [fake_ui.statuses["status-line"]]

    def look(*steps):
        def turn(_request):
            seen.append(fake_ui.statuses["status-line"])
            return steps

        return turn

    script.turn(look(tool_call("read", path="a"), tool_call("read", path="b"))).turn(look(text("Done.")))

    await pi_session.prompt("go")

    assert [*seen, fake_ui.statuses["status-line"]] == [
        "Ready",
        "Turn 1 ...",
        "Turn 2 ...",
        "Turn 2 done, 0 tool calls",
    ]
