"""Dialogs, without a screen."""

from __future__ import annotations

from pi_hookspecs import Activity, ActivityItem, FormField, Line
from pi_tui.dialogs.activities import ActivityList
from pi_tui.dialogs.form import Form
from pi_tui.dialogs.pane import Pane
from pi_tui.dialogs.select import Confirm, Select
from pi_tui.keys.bindings import Bindings
from pi_tui.keys.events import Key
from pi_tui.view.state import Queue


async def test_the_columns_of_options_stay_where_they_are():
    options = ["Brest      high at  6", "Le Conquet high at 11", "a\nb\x1b[31mc"]

    shown = [str(line).strip() for line in Select("Which?", options).lines(40, 12)]

    assert {"\u2192 Brest      high at  6", "Le Conquet high at 11", "a bc"} <= {*shown}


def rows_of(dialog, width: int, height: int) -> list[str]:
    rows = [str(line).rstrip() for line in dialog.lines(width, height)]
    assert len(rows) <= height
    return rows[1:-1]


async def test_a_long_text_scrolls_above_its_answers():
    confirm, bindings = Confirm("Apply?", "\n".join(f"line {number}" for number in range(40))), Bindings("linux")

    assert rows_of(confirm, 60, 10) == [
        "Apply?",
        *(f"line {number}" for number in range(3)),
        "(4/41 rows, pageUp and pageDown scroll)",
        "→ Yes",
        "  No",
        "Enter to select · Escape to cancel",
    ]
    for _ in range(9):
        confirm.key(Key("pagedown"), bindings)
    assert rows_of(confirm, 60, 10)[3:6] == ["line 39", "(41/41 rows, pageUp and pageDown scroll)", "→ Yes"]
    confirm.key(Key("pageup"), bindings)
    assert rows_of(confirm, 60, 10)[3] == "line 34"


async def test_on_the_smallest_screen_a_question_gives_way_to_its_answers():
    assert rows_of(Select("Go on?\nIt takes an hour.\nOr two.", ["Yes", "No"]), 20, 5) == ["Go on?", "→ Yes", "  No"]


async def test_on_the_smallest_screen_the_list_of_what_runs_has_items():
    items = [ActivityItem(f"{name}  scout") for name in ("a1", "b2")]
    listed = ActivityList({"agents": Activity("2 agents", items=items)}, Queue, print)

    assert rows_of(listed, 20, 6) == ["Running and waiting", " 2 agents", "→  a1  scout", "   b2  scout"]


async def test_on_the_smallest_screen_a_form_has_its_title_and_two_fields():
    fields = [FormField(name, description="Of the tide table. " * 9) for name in ("port", "hour")]
    form = Form(fields, "Which tide?", "It is looked up in the almanac of this year.")

    rows = rows_of(form, 20, 6)

    assert rows[0] == "Which tide?"
    assert [row.split()[0] for row in rows[1:3]] == ["→", "hour"]


async def test_a_narrow_pane_says_how_it_is_closed():
    pane = Pane(lambda _width: [Line.of(str(number)) for number in range(50)], Bindings("linux"))

    assert [str(pane.lines(width, 8)[-2]).strip() for width in (80, 30, 20)] == [
        "(1-5/50)  Up/Down to scroll · Escape to close",
        "(1-5/50)  Escape to close",
        "Escape to close",
    ]
