"""Keys that the editor of a program does not get: those of pi's actions on its main screen, and no others."""

from __future__ import annotations

from pi_isolated.surfaces import APPLICATION
from pi_tui.keys.actions import ACTIONS


def test_an_editor_of_a_program_gets_all_keys_but_those_of_the_main_screen():
    main = {name for name, action in ACTIONS.items() if name.startswith("app.") and "main" in action.places}

    assert sorted(main - {"app.interrupt"}) == [*APPLICATION]  # which the editor sees first, to close a list
