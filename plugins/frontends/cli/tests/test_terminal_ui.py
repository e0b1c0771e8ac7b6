"""Dialogs on a line: what the user sees of a question while something else happens."""

from __future__ import annotations

import asyncio
import os

import pytest

from pi_cli.terminal_ui import TerminalUI
from pi_hookspecs import Approval, FormField, approval_choices
from pi_testing import for_each


@pytest.fixture
async def ui(monkeypatch):
    """A terminal with a typing user: ``ui.type("text")``."""
    reading, writing = os.pipe()
    with os.fdopen(reading, encoding="utf-8") as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        ui = TerminalUI()
        ui.interactive = True
        ui.type = lambda text: os.write(writing, text.encode())
        yield ui
        os.close(writing)
        while await ui.input("The end") is not None:  # then its thread reads no more from a descriptor that is closed
            continue


async def test_a_notice_is_printed_above_the_open_question(ui, capsys):
    asked = asyncio.ensure_future(ui.input("Code"))
    await asyncio.sleep(0)
    ui.notify("Not that one", "warning")
    ui.type("right\n")
    answer = await asked
    ui.notify("Thanks")

    assert answer == "right"
    assert capsys.readouterr().err == "Code: \nWarning: Not that one\nCode: Thanks\n"


async def test_who_chose_nothing_that_there_is_learns_how_to_choose_nothing(ui, capsys):
    ui.type("/quit\n\n")

    assert await ui.select("Which?", ["one", "two"]) is None
    assert "'/quit' is not one of them; pressing Enter alone chooses none." in capsys.readouterr().err


async def test_columns_of_choices_stay_columns(ui, capsys):
    ui.type("1\n")

    assert await ui.select("Which?", ["a   1 file", "bcd  2 files"]) == "a   1 file"
    assert "   1 a   1 file\n   2 bcd  2 files\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("typed", "chosen"),
    [("2", "two"), ("02", "two"), ("TW", "two"), ("9" * 5000, None), ("0", None), ("\u00b2", None), ("", None)],
    ids=lambda each: repr(each)[:8],
)
async def test_a_choice_is_a_number_or_a_name(ui, capsys, typed, chosen):
    ui.type(f"{typed}\n\n")

    assert await ui.select("Which?", ["one", "two"]) == chosen
    assert "9" * 100 not in capsys.readouterr().err


FIELDS = [
    FormField("text", required=True),
    FormField("owner", "choice", options=["model", "me"], default="me"),
    FormField("zone", "choice", options=["UTC"]),
    FormField("tags", "choices", options=["home", "work"], default=["work"]),
    FormField("public", "boolean", default=False),
]


async def test_enter_alone_keeps_the_defaults_of_a_form(ui):
    ui.type("write\n\n\n\n\n")

    assert await ui.form(FIELDS) == {"text": "write", "owner": "me", "tags": ["work"], "public": False}


async def test_what_enter_alone_chooses_is_said_after_a_mistake(ui, capsys):
    ui.type("write\nnobody\n\n")

    await ui.form(FIELDS[:2])

    assert "'nobody' is not one of them; pressing Enter alone chooses me (default)." in capsys.readouterr().err


APPROVAL = Approval(
    "Deploy?", what="staging\nand more", why="It is final.", choices=approval_choices(always="staging, in targets.json")
)


@for_each(
    ("typed", "answer"),
    [("y", "once"), ("yes", "once"), ("A", "always"), ("n", None), ("no", None), ("", None), ("q\nq\na", "always")],
)
async def test_an_approval_is_answered_with_a_letter(ui, typed, answer):
    ui.type(f"{typed}\n")

    assert await ui.approve(APPROVAL) == answer


async def test_an_approval_says_what_why_and_what_always_means(ui, capsys):
    ui.type("\n")
    await ui.approve(APPROVAL)

    assert capsys.readouterr().err == (
        "Deploy?\n  staging\n  and more\n  It is final.\n"
        "  y  Allow once\n  a  Always allow: staging, in targets.json\n  n  Refuse\nAnswer [y/a/N]: "
    )
