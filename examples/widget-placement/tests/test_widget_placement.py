"""Lines are shown above and below the editor."""

from __future__ import annotations

from pi_testing import text, usage


async def test_widgets_are_where_they_belong(pi_session, script, fake_ui, tmp_path):
    before = dict(fake_ui.widgets)
    script.turn(text("Hello."), usage(input=64_000))

    await pi_session.prompt("hi")

    assert before == {"where": (f"Working in {tmp_path.name}",), "how-full": ("No messages yet",)}
    assert fake_ui.widgets["how-full"] == ("The model's window: 50 % full",)
    assert fake_ui.placements == {"where": "aboveEditor", "how-full": "belowEditor"}
