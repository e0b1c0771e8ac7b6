"""Commands about pi itself."""

from __future__ import annotations

import asyncio
import stat
from typing import TYPE_CHECKING

import pytest

from pi_core import TrustStore
from pi_hookspecs import Command, hookimpl
from pi_testing import text

if TYPE_CHECKING:
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
        await user.type("/plugins slow", "enter")

        await user.sees("slow", "pi plugins show NAME describes")


@pytest.mark.parametrize(("key", "decided"), [("t", True), ("d", False)])
async def test_trust_of_the_folder_is_stored(desk, pi_session: AgentSession, key: str, decided: bool) -> None:
    async with desk((100, 30)) as user:
        await user.type("/trust", "enter")
        await user.sees("Trust the parent folder")
        await user.press(key)
        await user.when(lambda: "It counts when pi is started again" in " ".join(user.text.split()))

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


async def test_the_version_and_its_changes_are_named(desk) -> None:
    async with desk() as user:
        await user.type("/changelog", "enter")

        await user.sees("What has changed", "CHANGELOG.md")
