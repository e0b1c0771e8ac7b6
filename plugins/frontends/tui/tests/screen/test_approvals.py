"""Approvals on the screen: what, why and what each answer means; a letter answers, escape refuses."""

from __future__ import annotations

import pytest

from pi_hookspecs import Approval, approval_choices

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
