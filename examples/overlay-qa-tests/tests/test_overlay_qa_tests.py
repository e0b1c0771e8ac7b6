"""Overlays are where they are asked for, above each other, and hidden where there is no room."""

from __future__ import annotations

import asyncio

import pytest

from pi_hookspecs import ScreenSize

pytestmark = pytest.mark.pi(screen=True)


async def test_there_is_one_at_each_anchor(pi_session, fake_ui):
    for _ in range(9):
        fake_ui.presses("enter")

    await pi_session.prompt("/overlay-anchors")

    assert [screen.overlay.anchor for screen in fake_ui.customs][::4] == ["top-left", "center", "bottom-right"]
    assert len(fake_ui.customs) == 9


async def test_escape_ends_the_tour(pi_session, fake_ui):
    fake_ui.leaves_open()
    tour = asyncio.ensure_future(pi_session.prompt("/overlay-anchors"))
    screen = await fake_ui.opened_custom()

    screen.done(None)
    await tour

    assert len(fake_ui.customs) == 1


async def test_panels_are_above_each_other(pi_session, fake_ui):
    fake_ui.leaves_open().leaves_open()
    stack = asyncio.ensure_future(pi_session.prompt("/overlay-stack"))
    first = await fake_ui.opened_custom()

    first.press("n")
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    second = fake_ui.customs[-1]
    second.done()
    first.done()
    await stack

    assert [screen.overlay.offset for screen in fake_ui.customs] == [(4, 2), (8, 4)]
    assert second.component.render(36)[1].runs[1].text.strip() == "n opens another one"


async def test_a_narrow_screen_hides_it(pi_session, fake_ui):
    fake_ui.presses("enter")

    await pi_session.prompt("/overlay-sizes")

    visible = fake_ui.customs[0].overlay.visible
    assert (visible(ScreenSize(100, 40)), visible(ScreenSize(60, 20))) == (True, False)
