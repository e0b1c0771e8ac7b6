"""Dialogs, without a screen."""

from __future__ import annotations

from pi_tui.dialogs.select import Select


async def test_the_columns_of_options_stay_where_they_are():
    options = ["Brest      high at  6", "Le Conquet high at 11", "a\nb\x1b[31mc"]

    shown = [str(line).strip() for line in Select("Which?", options).lines(40, 12)]

    assert {"\u2192 Brest      high at  6", "Le Conquet high at 11", "a bc"} <= {*shown}
