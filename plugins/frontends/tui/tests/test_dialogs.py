"""Dialogs, without a screen."""

from __future__ import annotations

from pi_hookspecs import Line
from pi_tui.dialogs.pane import Pane
from pi_tui.dialogs.select import Select
from pi_tui.keys.bindings import Bindings


async def test_the_columns_of_options_stay_where_they_are():
    options = ["Brest      high at  6", "Le Conquet high at 11", "a\nb\x1b[31mc"]

    shown = [str(line).strip() for line in Select("Which?", options).lines(40, 12)]

    assert {"\u2192 Brest      high at  6", "Le Conquet high at 11", "a bc"} <= {*shown}


async def test_a_narrow_pane_says_how_it_is_closed():
    pane = Pane(lambda _width: [Line.of(str(number)) for number in range(50)], Bindings("linux"))

    assert [str(pane.lines(width, 8)[-2]).strip() for width in (80, 30, 20)] == [
        "(1-5/50)  Up/Down to scroll · Escape to close",
        "(1-5/50)  Escape to close",
        "Escape to close",
    ]
