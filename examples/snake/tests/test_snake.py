"""The snake moves, eats, grows and dies; the best score is the session's."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import pytest

from pi_hookspecs import CustomEntry

pytestmark = pytest.mark.pi(screen=True)


@asynccontextmanager
async def playing(pi_session, fake_ui):
    """Start a game, and yield it with its screen and the command that plays; the clock is the test's."""
    fake_ui.leaves_open()
    command = asyncio.ensure_future(pi_session.prompt("/snake"))
    screen = await fake_ui.opened_custom()
    game = screen.component.component
    game.timer.cancel()
    yield game, screen, command
    screen.done()
    await command


def move(game, screen, *keys):
    for key in keys:
        screen.press(key)
        game.tick()
        game.timer.cancel()


async def test_arrows_and_letters_lead_it(pi_session, fake_ui):
    async with playing(pi_session, fake_ui) as (game, screen, _):
        move(game, screen, "up", "l", "down", "left")

        assert (game.snake[0], game.over) == ((12, 6), False)


async def test_it_cannot_turn_back(pi_session, fake_ui):
    async with playing(pi_session, fake_ui) as (game, screen, _):
        move(game, screen, "left")

        assert game.snake[0] == (13, 6)


async def test_it_grows_with_what_it_eats(pi_session, fake_ui):
    async with playing(pi_session, fake_ui) as (game, screen, _):
        game.food = (13, 6)

        move(game, screen, "right", "right")

        assert (len(game.snake), game.score) == (3, 10)
        assert " 10 · best 10" in screen.rows[0]


async def test_the_wall_ends_the_game_and_the_best_score_is_kept(pi_session, fake_ui):
    async with playing(pi_session, fake_ui) as (game, screen, command):
        game.food = (13, 6)
        move(game, screen, *["right"] * 12)

        over = screen.rows[-1]
        screen.press("enter")
        await command

        assert over == "game over · enter"
        kept = [each.data for each in pi_session.session_manager.get_branch() if isinstance(each, CustomEntry)]
        assert kept == [game.score]  # the next food may be on the way, too
        assert game.score >= 10
        assert fake_ui.notices[-1].message == f"New best score: {game.score}"


async def test_all_rows_fit(pi_session, fake_ui):
    async with playing(pi_session, fake_ui) as (_, screen, _):
        assert {len(row) for row in screen.rows[1:14]} == {50}
