"""The examples that draw, on the screen itself: what a user sees of them, and that their keys arrive."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from pi_testing import stall, text, tool_call

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[5] / "examples"
if not EXAMPLES.is_dir():
    pytest.skip("the examples are only in the repository", allow_module_level=True)


def example(name: str) -> Any:
    """Return the marker of a session with an example."""
    module = f"pi_{name.replace('-', '_')}"
    path = str(EXAMPLES / name / "src")
    if path not in sys.path:
        sys.path.append(path)
    return pytest.mark.pi(plugins={name: import_module(module)})


async def begin(pi_session: Any) -> None:
    """Let plugins see the screen: the session of the fixture began without one."""
    await pi_session.reload()


@example("custom-header")
async def test_a_header(desk, pi_session) -> None:
    async with desk() as user:
        await begin(pi_session)
        await user.sees("| '_ \\ |", "Welcome to")
        await user.type("/pi-header", "enter")
        await user.sees("interrupt")

        assert "Welcome to" not in user.text


@example("custom-footer")
async def test_a_footer(desk, pi_session) -> None:
    async with desk() as user:
        await begin(pi_session)
        await user.sees("⎇ -  ░░░░░░░░░░", "model")

        assert "(auto)" not in user.text


@example("working-indicator")
async def test_an_indicator(desk, script) -> None:
    script.turn(stall())

    async with desk() as user:
        await user.type("/indicator pulse", "enter")
        await user.sees("Indicator: pulse")
        await user.type("Go", "enter")
        await user.sees("● Pondering ─")
        await user.press("escape")


@example("modal-editor")
async def test_an_editor_with_modes(desk, pi_session) -> None:
    async with desk() as user:
        await begin(pi_session)
        await user.press(*"one two", "escape", "0", "x", "w", "D")
        await user.sees("ne", "NORMAL")
        await user.press("A", *"end")
        await user.sees("INSERT")

        assert user.typed == "ne end"


@example("rainbow-editor")
async def test_a_word_with_colours(desk, pi_session) -> None:
    async with desk() as user:
        await begin(pi_session)
        await user.press(*"go ultrathink")
        await user.sees("go ultrathink")
        editor = user.app.board.editor

        assert len({run.role for run in editor.rows(80)[0].runs}) > 4


@example("overlay-qa-tests")
async def test_overlays(desk) -> None:
    async with desk() as user:
        await user.type("/overlay-anchors", "enter")
        places = []
        for anchor in ("top-left", "top", "top-right"):
            await user.sees(f"╭─ {anchor} ─")
            places.append(next((row.index("╭"), y) for y, row in enumerate(user.rows) if "╭" in row))
            await user.press("enter")
        await user.press("escape")
        await user.when(lambda: "╭" not in user.text)
        await user.type("/overlay-stack", "enter")
        await user.sees("panel 1")
        await user.press("n")
        await user.sees("╭─ panel 1", "╭─ panel 2")
        await user.press("escape")
        await user.when(lambda: "panel 2" not in user.text)

        assert "panel 1" in user.text
        assert places == [(1, 1), (25, 1), (49, 1)]
        await user.press("escape")


@example("overlay-qa-tests")
async def test_an_overlay_for_wide_screens(desk) -> None:
    async with desk((60, 20)) as user:
        await user.type("/overlay-sizes", "enter")
        await user.when(lambda: user.app.overlays.focused is not None)
        narrow = "wide screens only" in user.text
        await user.pilot.resize_terminal(100, 30)
        await user.sees("wide screens only", "40 cells wide")
        await user.press("enter")

        assert not narrow


@example("snake")
async def test_a_game(desk) -> None:
    async with desk((80, 30)) as user:
        await user.type("/snake", "enter")
        await user.sees("Snake  0 · best 0", "arrows or h j k l")
        await user.press("down")
        await user.when(lambda: user.app.dialog.place.component.component.way == (0, 1))
        await user.press("escape")
        await user.when(lambda: user.app.dialog is None)


@example("tic-tac-toe")
async def test_a_board(desk, script) -> None:
    script.turn(stall())

    async with desk() as user:
        await user.type("/tic-tac-toe", "enter")
        await user.sees("You play X")
        await user.press("up", "enter")
        await user.sees("1 │ X │ 3", "I play X in cell 2")
        await user.press("escape")


@example("github-issue-autocomplete")
async def test_completions(desk, pi_session, tmp_path, monkeypatch) -> None:
    program = tmp_path / "gh"
    program.write_text('#!/bin/sh\necho \'[{"number": 7, "title": "The clock is slow"}]\'\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")

    async with desk() as user:
        await begin(pi_session)
        await user.press(*"see #")
        await user.sees("→ #7  The clock is slow")
        await user.press("tab")

        assert user.typed.rstrip() == "see #7"


@example("checklist")
async def test_a_checklist(desk, pi_session) -> None:
    async with desk((100, 30)) as user:
        await user.type("/item", "enter")
        await user.sees("What is to be done", "Who does it")
        await user.press(*"write", "enter", "enter", "enter")
        await user.sees("Checklist", "· write")
        await user.type("/checklist", "enter")
        await user.sees("→ · write")
        await user.press("enter")
        await user.sees("✓ write")


@example("message-renderer")
async def test_a_message_that_a_plugin_draws(desk) -> None:
    async with desk() as user:
        await user.type("/status-update warning The tide turns", "enter")
        await user.sees("[!] The tide turns")
        await user.press("ctrl+o")
        await user.sees("    at 20")


@example("questionnaire")
async def test_questions_of_a_tool(desk, script) -> None:
    questions = [{"id": "when", "prompt": "When?", "options": ["now", "later"]}, {"id": "who", "prompt": "Who?"}]
    script.turn(tool_call("questionnaire", questions=questions)).turn(text("Noted."))

    async with desk() as user:
        await user.type("Ask me", "enter")
        await user.sees("1/2 When?", "→ now")
        await user.press("down", "enter")
        await user.sees("2/2 Who?")
        await user.press(*"ada", "enter")
        await user.sees("Noted.")

    assert script.requests[1].tool_results[-1].text == "when: later\nwho: ada"


@example("todo")
async def test_a_list_of_the_session(desk, script) -> None:
    script.turn(tool_call("todo", action="add", text="mend the clock")).turn(text("Noted."))

    async with desk() as user:
        await user.type("Plan it", "enter")
        await user.sees("Noted.")
        await user.type("/todos", "enter")

        await user.sees("[ ] 1 mend the clock")


@example("widget-placement")
async def test_widgets_above_and_below(desk, pi_session) -> None:
    async with desk() as user:
        await begin(pi_session)
        text = await user.sees("Working in", "No messages yet")

        assert text.index("Working in") < text.index("─" * 80) < text.index("No messages yet")


@example("titlebar-spinner")
async def test_a_title_that_moves(desk, script) -> None:
    script.turn(stall())

    async with desk() as user:
        await user.type("Go", "enter")
        await user.when(lambda: (user.app.state.title or "").startswith("⠙ pi - "))
        await user.press("escape")
        await user.when(lambda: (user.app.state.title or "").startswith("pi - "))
