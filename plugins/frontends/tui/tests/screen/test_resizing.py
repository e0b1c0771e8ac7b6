"""A terminal of another size: everything is drawn in it, and once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_tui.screen.transcript import Transcript

if TYPE_CHECKING:
    import pytest


async def test_the_header_is_wrapped_in_the_new_width(desk) -> None:
    async with desk() as user:
        await user.sees("escape interrupt", "more")
        await user.pilot.resize_terminal(30, 20)
        await user.sees("escape interrupt", "more")

        assert all(len(row.rstrip()) <= 30 for row in user.rows)


async def test_the_conversation_is_laid_out_once(desk, monkeypatch: pytest.MonkeyPatch) -> None:
    async with desk() as user:
        await user.sees("escape interrupt")
        laid_out: list[int] = []
        visible = Transcript._visible

        def counted(transcript: Transcript) -> object:
            laid_out.append(transcript.size.width)
            return visible(transcript)

        monkeypatch.setattr(Transcript, "_visible", counted)
        await user.pilot.resize_terminal(60, 20)
        await user.pilot.pause(0.1)

    assert laid_out == [60]
