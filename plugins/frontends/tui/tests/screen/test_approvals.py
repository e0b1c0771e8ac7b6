"""Approvals on the screen: what, why and what each answer means; a letter answers, escape refuses."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from pi_hookspecs import Approval, approval_choices, hookimpl
from pi_testing import text, tool_call

if TYPE_CHECKING:
    from pathlib import Path

    from pi_hookspecs import PiContext

APPROVAL = Approval(
    "Let bash do this?",
    what="rm -rf build",
    why="delete: it deletes folders.",
    choices=approval_choices(always="bash with exactly 'rm -rf build', as a rule in your settings"),
)
LONG = Approval("Let bash do this?", what="\n".join(f"echo {number}" for number in range(40)), why="It is long.")


async def asked(user, draws, approval=APPROVAL) -> None:
    await draws.lets(user, lambda ctx: ctx.ui.approve(approval))
    await user.sees("Let bash do this?")


async def asked_while_typing(user, draws) -> None:
    """Ask after the user has typed the first letters of a word."""
    asks = asyncio.Event()

    async def approve(ctx):
        await asks.wait()
        return await ctx.ui.approve(APPROVAL)

    await draws.lets(user, approve)
    await user.press("m", "a")
    asks.set()


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        (["y"], "once"),
        (["a"], "always"),
        (["n"], None),
        (["escape"], None),
        (["enter"], "once"),
        (["down", "enter"], "always"),
        (["up", "enter"], None),
    ],
)
async def test_a_letter_or_the_selection_answers(desk, draws, keys, answer) -> None:
    async with desk((80, 24)) as user:
        await asked(user, draws)
        await user.press(*keys)
        await user.when(lambda: draws.results)

        assert draws.results == [answer]


async def test_all_that_the_decision_needs_is_displayed(desk, draws) -> None:
    async with desk((100, 24)) as user:
        await asked(user, draws)

        for row in (
            "  rm -rf build",
            "delete: it deletes folders.",
            "→ y  Allow once",
            "  a  Always allow  bash with exactly 'rm -rf build', as a rule in your settings",
            "  n  Refuse",
            "y/a/n answer",
        ):
            assert row in user.text
        await user.press("escape")
        await user.when(lambda: draws.results)


async def test_on_a_narrow_screen_what_an_answer_means_is_below_it_and_complete(desk, draws) -> None:
    async with desk((46, 24)) as user:
        await asked(user, draws)

        rows = [row.strip() for row in user.rows]
        at = rows.index("a  Always allow")
        assert " ".join(rows[at + 1 : at + 3]) == "bash with exactly 'rm -rf build', as a rule in your settings"
        await user.press("escape")
        await user.when(lambda: draws.results)


async def test_a_long_command_scrolls_and_its_answers_stay(desk, draws) -> None:
    async with desk((80, 24)) as user:
        await asked(user, draws, LONG)
        assert "echo 0" in user.text
        assert "echo 39" not in user.text
        await user.press(*["pagedown"] * 10)
        await user.sees("echo 39", "(40/40 rows", "n  Refuse")
        await user.press("n")
        await user.when(lambda: draws.results)


async def test_on_the_smallest_screen_every_answer_is_displayed(desk, draws) -> None:
    async with desk((20, 6)) as user:
        await asked(user, draws)

        assert [row.rstrip() for row in user.rows[-5:]] == [
            "Let bash do this?",
            "  rm -rf build",
            "→ y  Allow once",
            "  a  Always allow",
            "  n  Refuse",
        ]
        await user.press("a")
        await user.when(lambda: draws.results)


async def test_a_long_reason_leaves_room_for_the_answers_and_a_row_of_what_it_is_about(desk, draws) -> None:
    approval = Approval("Let bash do this?", what="echo 1\necho 2\necho 3", why="long " * 400)
    async with desk((60, 20)) as user:
        await asked(user, draws, approval)

        assert "  echo 1 1/3" in user.text
        assert "→ y  Allow once" in user.text
        assert "  n  Refuse" in user.text
        await user.press("pagedown")
        await user.sees("  echo 3 3/3")
        await user.press("n")
        await user.when(lambda: draws.results)


async def test_a_question_waits_until_the_user_has_stopped_typing(desk, draws, monkeypatch) -> None:
    monkeypatch.setattr("pi_tui.screen.keyboard._PAUSE", 3)  # a slow computer may take a second for each key
    async with desk((80, 24)) as user:
        await asked_while_typing(user, draws)
        await user.press("y", "space", "n")

        assert user.app.editor.text.text == "may n"
        assert not draws.results
        await user.sees("Let bash do this?")
        await user.press("y")
        await user.when(lambda: draws.results)
        assert draws.results == ["once"]
        assert user.app.editor.text.text == "may n"


async def test_a_question_does_not_wait_after_a_message_was_sent(desk, draws) -> None:
    async with desk((80, 24)) as user:
        await user.press("h", "i", "enter")
        await draws.lets(user, lambda ctx: ctx.ui.approve(APPROVAL))

        await user.when(lambda: user.app.dialog is not None)
        await user.press("n")
        await user.when(lambda: draws.results)
        assert draws.results == [None]


async def test_a_question_that_waits_is_dismissed_when_pi_ends(desk, draws, monkeypatch) -> None:
    monkeypatch.setattr("pi_tui.screen.keyboard._PAUSE", 3600)
    async with desk((80, 24)) as user:
        await asked_while_typing(user, draws)
        await user.press("y")
        assert user.app.dialog is None
        ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        ended.set_result(None)
        await user.app.close(ended)

        await user.when(lambda: draws.results)
        assert draws.results == [None]


class AsksForEdits:
    """Asks before each change of a file."""

    @hookimpl
    async def tool_call(self, event: Any, ctx: PiContext) -> None:
        if event.tool_name == "edit":
            await ctx.ui.approve(Approval("Let edit do this?", what="tide.py"))


def call_of(user) -> list[str]:
    """Return the rows of the call on the screen."""
    rows = [row.rstrip() for row in user.rows]
    return rows[rows.index(" edit tide.py") : rows.index(" edit tide.py") + 24]


@pytest.mark.pi(plugins=[AsksForEdits()], entry_points=["tools"])
async def test_an_edit_is_approved_with_the_numbers_that_its_diff_has_later(desk, script, tmp_path: Path) -> None:
    (tmp_path / "tide.py").write_text("".join(f"line {number}\r\n" for number in range(1, 31)))
    edits = [
        {"oldText": "line 28", "newText": "line 28, changed\nand one more"},
        {"oldText": "line 9\nline 10\nline 11\n", "newText": "line 9\nline 11\n"},
        {"oldText": "line 12\n", "newText": "line twelve\n"},
    ]
    script.turn(tool_call("edit", path="tide.py", edits=edits)).turn(text("It moves."))

    async with desk((80, 50)) as user:
        await user.type("Go", "enter")
        await user.sees("Let edit do this?")
        asked = call_of(user)
        await user.press("y")
        await user.sees("It moves.")

        assert {" -10 line 10", " -12 line 12", " +11 line twelve", " +28 and one more"} <= {*asked}
        assert asked == call_of(user)
