"""The fake screen: what plugins draw on it can be read, and keys pressed."""

from __future__ import annotations

import asyncio

import pytest

from pi_hookspecs import FullUserInterface, Overlay, ScreenHandle, Theme, UserError, UserInterface
from pi_testing import FakeFullUI, FakeUI, RecordingScreen


class Letters:
    """Shows what was typed, and ends with Enter."""

    def __init__(self, screen):
        self.screen, self.text, self.disposed, self.focused = screen, "", 0, False

    def render(self, width):
        return [self.text.ljust(width, ".")]

    def handle_key(self, key):
        if key == "enter":
            self.screen.done(self.text)
        else:
            self.text += key
            self.screen.refresh()
        return True

    def dispose(self):
        self.disposed += 1


@pytest.fixture
def ui():
    return FakeFullUI(width=4)


def test_it_is_a_full_user_interface(ui):
    assert isinstance(ui, FullUserInterface)
    assert isinstance(FakeUI(), UserInterface)
    assert not isinstance(FakeUI(), FullUserInterface)


def test_a_screen_records_what_its_component_does():
    screen = RecordingScreen(Letters, width=3, height=2)

    screen.press("a", "enter", "b")

    assert isinstance(screen, ScreenHandle)
    assert (screen.rows, screen.refreshes, screen.size) == (("a..",), 1, (3, 2))
    assert (screen.is_done, screen.result, screen.component.disposed) == (True, "a", 1)


async def test_the_prepared_keys_close_a_dialog(ui):
    ui.presses("h", "i", "enter")

    answer = await ui.custom(Letters, overlay=Overlay(anchor="top"))

    assert answer == "hi"
    assert ui.customs[0].overlay.anchor == "top"
    assert ui.customs[0].component.focused


async def test_a_dialog_that_stays_open_fails_the_test(ui):
    ui.presses("h")

    with pytest.raises(AssertionError, match=r"still open after the keys \('h',\)"):
        await ui.custom(Letters)

    with pytest.raises(AssertionError, match="still open"):
        ui.check()


async def test_a_dialog_may_be_left_open_and_ended_by_the_test(ui):
    ui.leaves_open()
    dialog = asyncio.create_task(ui.custom(Letters))

    screen = await ui.opened_custom()
    screen.done("later")

    assert await dialog == "later"


def test_widgets_header_footer_and_editor_have_screens(ui):
    ui.set_widget("w", Letters, placement="belowEditor")
    ui.set_header(Letters)
    ui.set_footer(Letters)
    ui.set_editor_component(Letters)

    assert [*ui.screens] == ["w", "header", "footer", "editor"]
    assert ui.placements == {"w": "belowEditor"}
    assert ui.screens["w"].rows == ("....",)
    assert ui.get_editor_component() is Letters


def test_what_is_replaced_or_removed_is_disposed_of(ui):
    ui.set_widget("w", Letters)
    first = ui.screens["w"].component
    ui.set_widget("w", Letters)
    second = ui.screens["w"]

    ui.set_widget("w", ["plain"])

    assert (first.disposed, second.component.disposed) == (1, 1)
    assert (ui.screens, ui.widgets) == ({}, {"w": ("plain",)})


def test_a_component_may_remove_itself(ui):
    ui.set_header(Letters)

    ui.screens["header"].press("enter")

    assert ui.screens == {}


def test_typed_text_passes_the_handlers(ui):
    remove = ui.on_terminal_input(lambda data: data.upper())
    swallow = ui.on_terminal_input(lambda data: data == "X")

    assert (ui.types("a"), ui.types("x")) == ("A", None)

    remove()
    swallow()
    swallow()
    assert ui.types("x") == "x"


def test_what_is_set_can_be_read(ui):
    dark = Theme("dark", colors={"text": ""})
    ui.themes["dark"] = dark

    ui.set_working_message("Thinking")
    ui.set_working_visible(False)
    ui.set_working_indicator([".", ".."], 0.5)
    ui.set_hidden_thinking_label("...")
    ui.set_editor_text("a")
    ui.paste_to_editor("b")
    ui.set_tools_expanded(True)
    ui.set_theme("dark")
    remove = ui.add_autocomplete_provider(print)

    assert (ui.working_message, ui.working_visible, ui.working_frames) == ("Thinking", False, (".", ".."))
    assert (ui.hidden_thinking_label, ui.get_editor_text(), ui.pasted) == ("...", "ab", ["b"])
    assert (ui.get_tools_expanded(), ui.theme, ui.get_theme("dark"), ui.get_all_themes()) == (True, dark, dark, (dark,))
    assert ui.autocomplete_providers == [print]
    remove()
    assert ui.autocomplete_providers == []
    with pytest.raises(UserError, match="no theme 'light'; there is dark"):
        ui.set_theme("light")


class Failing:
    def __init__(self, screen):
        self.screen = screen

    def render(self, width):
        return 1 / 0

    def handle_key(self, key):
        return 1 / 0


@pytest.mark.pi(plugins=[], screen=True)
async def test_the_components_of_a_session_are_contained(pi_session, fake_ui, recorder):
    pi_session.subscribe(recorder, "extension_error")

    pi_session.ctx.ui.set_widget("bad", Failing)

    screen = fake_ui.screens["bad"]
    assert screen.rows == ("plugin (program): widget 'bad' failed",)
    assert screen.press("x") is False
    assert fake_ui.screens == {"bad": screen}
    assert screen.rows == ()
    assert fake_ui.screens == {}
    assert len(recorder.of("extension_error")) == 4


@pytest.mark.pi(plugins=[], screen=True)
async def test_a_dialog_of_a_session_ends_with_a_reload(pi_session, fake_ui):
    fake_ui.leaves_open()
    dialog = asyncio.ensure_future(pi_session.ctx.ui.custom(Letters))
    screen = await fake_ui.opened_custom()

    await pi_session.reload()

    assert await dialog is None
    assert screen.component.component.disposed == 1


@pytest.mark.pi(plugins=[], screen=True)
async def test_what_completes_and_what_reads_keys_is_contained(pi_session, fake_ui, recorder):
    pi_session.subscribe(recorder, "extension_error")

    async def complete(text, cursor):
        return [text[:cursor]] if text else 1 / 0

    pi_session.ctx.ui.add_autocomplete_provider(complete)
    pi_session.ctx.ui.on_terminal_input(lambda data: 1 / 0)

    (provider,) = fake_ui.autocomplete_providers
    assert await provider("abc", 2) == ["ab"]
    assert await provider("", 0) is None
    assert fake_ui.types("a") == "a"
    assert len(recorder.of("extension_error")) == 2
