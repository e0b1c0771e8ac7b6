"""Commands about pi itself."""

from __future__ import annotations

import asyncio
import re
import stat
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING

import pytest

from pi_core import TrustStore
from pi_core.host.records import PluginRecord, Problem
from pi_hookspecs import Command, ExtensionErrorEvent, MouseEvent, Subcommand, UserError, hookimpl
from pi_testing import stall, text

if TYPE_CHECKING:
    from pathlib import Path

    from pi_core import AgentSession
    from pi_testing import ScriptedProvider


class Slow:
    """A plugin whose command waits."""

    def __init__(self) -> None:
        self.released = asyncio.Event()

    async def wait(self, _args, _ctx) -> None:
        await self.released.wait()

    @hookimpl
    def register_commands(self):
        return [Command(name="survey", description="Survey the harbour", handler=self.wait)]


SLOW = Slow()


class Pages:
    """A plugin with pages of a documentation."""

    def show(self, arguments: list[str], _options) -> int:
        if arguments == ["water"]:
            sys.stdout.write("These pages mention it:\n\n  tides  High water\n  moon   No water\n")
            return 1
        if arguments != ["tides"]:
            raise UserError(f"There is no topic {arguments[0]!r}")
        days = "\n".join(f"- day {number}" for number in range(50))
        sys.stdout.write(f"# Tides\n\nHigh water\n**comes** twice.\n\n{days}\n- the last day")
        return 0

    @hookimpl
    def register_subcommands(self):
        return [Subcommand("help", run=self.show, description="Show a page")]


@pytest.mark.pi(plugins={"pages": Pages()})
async def test_help_shows_a_page_of_the_documentation_from_its_beginning(desk) -> None:
    async with desk() as user:
        await user.type("/help tides", "enter")
        await user.sees("High water comes twice.", "- day 1", "to close")
        await user.press("end")
        await user.sees("the last day")
        await user.press("escape")
        await user.when(lambda: "the last day" not in user.text)
        await user.type("/help moons", "enter")
        await user.sees("There is no topic 'moons'")


@pytest.mark.pi(plugins={"pages": Pages(), "slow": SLOW})
async def test_help_describes_a_command_and_keeps_the_columns_of_a_list(desk) -> None:
    async with desk() as user:
        await user.type("/help /survey", "enter")
        await user.sees("/survey  Survey the harbour")
        await user.type("/help /nothing", "enter")
        await user.sees("There is no command /nothing. /help lists the commands.")
        await user.type("/help water", "enter")

        assert [row for row in (await user.sees("to close")).splitlines() if "water" in row and "/" not in row] == [
            "   tides  High water",
            "   moon   No water",
        ]


@pytest.mark.parametrize("where", ["remote"], indirect=True)
async def test_over_a_connection_help_names_the_command_that_shows_a_page(desk) -> None:
    async with desk() as user:
        await user.type("/help tides", "enter")

        await user.sees("To read the documentation, run this in a shell here: pi help 'tides'")


async def test_a_key_that_always_scrolls_is_not_listed_for_the_editor(desk) -> None:
    async with desk((100, 90)) as user:
        await user.type("/hotkeys", "enter")
        rows = (await user.sees("At the prompt", "Scroll up by a page")).splitlines()

    keys = {re.sub(" {2,}", ": ", row.strip()) for row in rows if "up by a page" in row}
    assert keys >= {"ctrl+pageUp: Move up by a page", "pageUp: Scroll up by a page"}


async def test_the_keys_that_stop_and_send_are_listed_before_those_that_move_the_cursor(desk) -> None:
    async with desk((100, 24)) as user:
        await user.type("/hotkeys", "enter")
        shown = await user.sees(
            "At the prompt", "Stop what is running", "Clear the prompt", "Use the next thinking level"
        )

    assert "Move up; from the first line" not in shown


async def test_a_wrapped_row_of_the_keys_stays_in_its_column(desk) -> None:
    async with desk((60, 20)) as user:
        await user.type("/hotkeys", "enter")
        await user.sees("At the prompt")
        keys = ""
        for _ in range(4):
            keys += user.text.rpartition("to close")[0]
            await user.press("pagedown")

    wrapped = [row for row in keys.splitlines() if row.startswith(" " * 27)]
    assert wrapped


@pytest.mark.pi(plugins={"slow": SLOW})
async def test_a_command_that_takes_long_is_named_until_it_is_over(desk) -> None:
    SLOW.released = asyncio.Event()

    async with desk() as user:
        await user.type("/survey", "enter")
        await user.sees("/survey is running... (escape to cancel)")
        SLOW.released.set()

        await user.when(lambda: "is running" not in user.text)


@pytest.mark.pi(plugins={"slow": SLOW})
async def test_plugins_are_listed_with_what_they_cost(desk) -> None:
    async with desk((100, 40)) as user:
        await user.type("/plugins slo", "enter")

        await user.sees("slow", "/plugins NAME describes")


@pytest.mark.parametrize("command", ["/help", "/hotkeys", "/plugins", "/changelog"])
async def test_what_is_listed_is_in_a_pane_that_leaves_nothing_behind(
    desk, script: ScriptedProvider, command: str
) -> None:
    script.turn(text("The tide is high."))

    async with desk((80, 24)) as user:
        await user.type("How is the tide?", "enter")
        before = await user.sees("The tide is high.")
        await user.type(command, "enter")
        await user.sees("to close")
        await user.press("pagedown", "escape")
        await user.when(lambda: "to close" not in user.text)

        assert user.text == before


async def test_a_pane_scrolls_by_keys_and_the_wheel_and_stays_in_its_ends(desk) -> None:
    async with desk((80, 24)) as user:
        await user.type("/hotkeys", "enter")
        first = await user.sees("(1-")
        await user.press("up")
        assert user.text == first
        await user.press("down")
        assert "(2-" in user.text
        await user.press("end")
        last = user.text
        await user.press("pagedown")
        assert user.text == last
        await user.press("home")
        assert user.text == first
        assert user.app.dialog is not None
        assert user.app.dialog.mouse(MouseEvent(kind="scroll_down", x=3, y=3))
        user.app.draw_dialog()
        await user.sees("(4-")


async def test_a_pane_opens_and_closes_while_an_answer_comes(desk, script: ScriptedProvider) -> None:
    script.turn(text("Ebb and flow."), stall())

    async with desk((80, 24)) as user:
        await user.type("How is the tide?", "enter")
        await user.sees("Ebb and flow.")
        await user.type("/help", "enter")
        await user.sees("/hotkeys", "to close")
        await user.press("escape")
        await user.sees("Ebb and flow.", "Working")
        assert "/hotkeys" not in user.text


async def test_a_command_of_a_plugin_that_waits_names_what_it_waits_for(desk, pi_session: AgentSession) -> None:
    when = {"files": [".../tides.csv"], "settings": ["tides.enabled"]}
    pi_session.host.records["tides"] = PluginRecord("tides", "tides", "1", "tides", when=when)
    try:
        async with desk((100, 24)) as user:
            await user.type("/tides", "enter")
            await user.sees("/tides is not available here: the plugin 'tides' waits for", "tides.csv", "tides.enabled")
            assert user.typed == "/tides"
    finally:
        del pi_session.host.records["tides"]


@pytest.mark.parametrize(("key", "decided"), [("t", True), ("d", False)])
async def test_trust_of_the_folder_is_stored(desk, pi_session: AgentSession, key: str, decided: bool) -> None:
    async with desk((100, 30)) as user:
        await user.type("/trust", "enter")
        await user.sees("Trust the parent folder")
        await user.press(key)
        await user.when(lambda: "It takes effect when pi is restarted" in " ".join(user.text.split()))

    store = TrustStore(pi_session.settings.agent_dir)
    assert store.decision(pi_session.cwd) == (pi_session.cwd.resolve(), decided)


async def test_the_screen_and_the_messages_are_written_for_the_user_alone(
    desk, pi_session: AgentSession, script: ScriptedProvider
) -> None:
    script.turn(text("The tide is high."))

    async with desk() as user:
        await user.type("How is the tide?", "enter")
        await user.sees("The tide is high.")
        await user.type("/debug", "enter")
        await user.sees("The screen and the messages are in")

    (file,) = (pi_session.settings.agent_dir / "logs").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.read_text().count("The tide is high.") > 1


async def test_a_session_is_exported(desk, pi_session: AgentSession, script: ScriptedProvider) -> None:
    script.turn(text("The tide is high."))

    async with desk() as user:
        await user.type("How is the tide?", "enter")
        await user.sees("The tide is high.")
        await user.type("/export 'talk.jsonl'", "enter")
        await user.sees("Session exported to")

    assert "The tide is high." in (pi_session.cwd / "talk.jsonl").read_text()


@pytest.mark.slow
async def test_the_changes_of_this_version_are_displayed_from_their_beginning(desk) -> None:
    async with desk() as user:
        await user.type("/changelog", "enter")
        await user.sees(version("pluggypi-tui"), "Added")
        await user.press("escape")

        await user.type("/changelog 1.0.0", "enter")
        await user.sees("1.0.0 (2026-11-22)", "pi runs, with a plugin host with hooks")
        await user.press("escape")

        await user.type("/changelog 0.1", "enter")
        assert "to close" not in await user.sees("There is no version '0.1'")


async def test_a_failure_that_was_displayed_is_not_a_problem_again(desk, pi_session: AgentSession) -> None:
    pi_session.host.problems.append(Problem("acme", "import", "not loaded: it is rusty"))

    async with desk((100, 24)) as user:
        user.app.take_event(ExtensionErrorEvent(extension_path="ebb", event="import", error="not loaded: it is wet"))
        pi_session.host.problems.append(Problem("ebb", "import", "not loaded: it is wet"))
        await user.type("/session", "enter")
        await user.sees("Messages", "it is rusty")

        assert (user.text.count("it is wet"), user.text.count("it is rusty")) == (1, 1)


@pytest.mark.pi(entry_points=["context-files", "skills", "prompt-templates"])
async def test_the_header_names_what_is_loaded_and_all_of_it_with_every_key_on_request(
    desk, pi_session: AgentSession, tmp_path: Path
) -> None:
    (tmp_path / "AGENTS.md").write_text("Be brief.")
    skill = pi_session.settings.agent_dir / "skills" / "tides" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: tides\ndescription: Reads tide tables.\n---\n\nRead.\n")
    async with desk((80, 50)) as user:
        assert "[Context]" not in user.text
        await user.type("/reload", "enter")
        await user.sees("[Context] AGENTS.md", "[Skills] tides")
        await user.press("ctrl+o")
        await user.sees("skills/tides/SKILL.md", "ctrl+l", "choose the model", "@ ")
        await user.press("ctrl+o")
        await user.sees("[Skills] tides", "ctrl+o more")


@pytest.mark.pi(entry_points=["context-files"], settings={"quietStartup": "header"})
async def test_the_header_may_be_all_that_a_start_shows(desk, tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("Be brief.")
    async with desk((80, 50)) as user:
        await user.type("/reload", "enter")
        await user.sees("pi v", "were reloaded.")
        await user.press("ctrl+o")
        await user.sees("choose the model")

        assert "[Context]" not in user.text
