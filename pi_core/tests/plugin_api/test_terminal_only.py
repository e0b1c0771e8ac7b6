"""``ctx.ui`` without a terminal: everything can be called, and what cannot be shown does nothing."""

from __future__ import annotations

import pytest

from pi_hookspecs import UserError

SHOWS = """
    set_editor_component set_footer set_header set_hidden_thinking_label set_tools_expanded set_working_indicator
    set_working_message set_working_visible paste_to_editor redraw
"""


@pytest.mark.parametrize("name", SHOWS.split())
def test_terminal_only_output_is_not_printed(session_of, name):
    assert getattr(session_of().ctx.ui, name)("x") is None


async def test_what_a_terminal_would_report_is_empty(session_of):
    ui = session_of().ctx.ui

    assert (ui.get_editor_text(), ui.get_all_themes(), ui.get_tools_expanded()) == ("", (), False)
    assert (ui.theme, ui.get_theme("dark"), ui.get_editor_component()) == (None, None, None)
    assert await ui.custom(object(), overlay=True) is None


@pytest.mark.parametrize("name", ["on_terminal_input", "add_autocomplete_provider"])
def test_what_can_be_withdrawn_can_be_withdrawn(session_of, name):
    assert getattr(session_of().ctx.ui, name)(print)() is None


def test_a_theme_is_refused_without_a_terminal(session_of):
    with pytest.raises(UserError, match="Theme 'dark' cannot be shown"):
        session_of().ctx.ui.set_theme("dark")


def test_a_name_that_no_interface_has_is_an_attribute_error(session_of):
    with pytest.raises(AttributeError, match="no attribute 'set_foot'"):
        _ = session_of().ctx.ui.set_foot


def test_a_front_end_that_has_it_is_asked(session_of):
    session, received = session_of(), []
    session.ui.set_footer = received.append

    session.ctx.ui.set_footer("mine")

    assert received == ["mine"]
