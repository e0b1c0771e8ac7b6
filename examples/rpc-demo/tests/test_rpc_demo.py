"""Everything that a user interface can do is done once."""

from __future__ import annotations

from pi_testing import Notice


async def test_every_dialog_and_notice_is_shown(pi_session, fake_ui, tmp_path):
    fake_ui.answers("green", True, "Rosie", "Rosie is greenish.")

    await pi_session.prompt("/rpc-demo")

    assert [dialog.kind for dialog in fake_ui.asked] == ["select", "confirm", "input", "editor"]
    assert fake_ui.asked[3].text == "Rosie is green."
    assert fake_ui.title == f"pi in {tmp_path.name}"
    assert fake_ui.statuses == {}
    assert fake_ui.widgets["rpc-demo"] == ("colour: green", "sure: True", "name: Rosie")
    assert fake_ui.placements["rpc-demo"] == "belowEditor"
    assert fake_ui.editor_text == "Rosie is greenish."
    assert fake_ui.notices == [
        Notice(f"This is how level {level!r} looks.", level) for level in ("info", "warning", "error")
    ]
