"""The title is animated during an answer, and static afterwards."""

from __future__ import annotations

import asyncio

import pytest

from pi_testing import stall, text, until


@pytest.fixture
def titles(fake_ui, monkeypatch):
    """All titles that are set, in a queue."""
    seen = asyncio.Queue()
    monkeypatch.setattr(fake_ui, "set_title", seen.put_nowait)
    return seen


async def take(titles, number):
    await until(lambda: titles.qsize() >= number)
    return [titles.get_nowait() for _ in range(number)]


async def test_title_moves_while_an_answer_is_made_and_rests_when_it_is_stopped(pi_session, script, titles, tmp_path):
    script.turn(stall())
    answering = asyncio.create_task(pi_session.prompt("go"))

    moving = await take(titles, 3)
    await pi_session.abort()
    await answering

    name = f"pi - {tmp_path.name}"
    assert moving == [f"{frame} {name}" for frame in "⠋⠙⠹"]
    assert [titles.get_nowait() for _ in range(titles.qsize())][-1] == name


async def test_title_rests_when_the_answer_is_done(pi_session, script, titles, tmp_path):
    script.turn(text("Done."))

    await pi_session.prompt("go")
    await asyncio.sleep(0)

    assert (await take(titles, titles.qsize() or 1))[-1] == f"pi - {tmp_path.name}"
