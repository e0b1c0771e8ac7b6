"""Limits of slash commands for front ends whose users may not do everything, applied where a command is dispatched."""

from __future__ import annotations

from functools import partial

import pytest

from pi_hookspecs import Command, UserError, hookimpl
from pi_testing import text

TOUCHES = {"note": (), "save": ("files",), "publish": ("files", "network"), "undeclared": None}


class Commands:
    """Commands that touch different things, and keep a record of their calls."""

    def __init__(self) -> None:
        self.runs: list[str] = []

    @hookimpl
    def register_commands(self):
        return [Command(name, handler=partial(self._run, name), touches=each) for name, each in TOUCHES.items()]

    def _run(self, name: str, _arguments: str, _ctx) -> None:
        self.runs.append(name)

    @hookimpl
    def activate(self, pi) -> None:
        pi.register_command("later", partial(self._run, "later"), touches=["settings"])


@pytest.fixture
def commands() -> Commands:
    return Commands()


@pytest.fixture
def pi_plugins(commands):
    return {"commands": commands}


async def run_all(session) -> dict[str, str]:
    """Send every command; return why some were refused."""
    refused = {}
    for name in (*TOUCHES, "later"):
        try:
            await session.prompt(f"/{name} now")
        except UserError as error:
            refused[name] = str(error)
    return refused


@pytest.mark.parametrize(
    ("limits", "runs"),
    [
        (None, ["note", "save", "publish", "undeclared", "later"]),
        ((), ["note"]),
        (("files",), ["note", "save"]),
        (("network", "files"), ["note", "save", "publish"]),
        (("settings",), ["note", "later"]),
        (("files", "programs", "network", "settings"), ["note", "save", "publish", "later"]),
    ],
    ids=str,
)
async def test_a_limit_permits_only_commands_that_declare_to_touch_nothing_else(pi_session, commands, limits, runs):
    pi_session.limit_commands(limits)

    refused = await run_all(pi_session)

    assert commands.runs == runs
    assert sorted([*refused, *runs]) == sorted([*TOUCHES, "later"])
    assert [each.name for each in await pi_session.get_commands() if each.name in (*TOUCHES, "later")] == runs


async def test_a_refused_command_says_why_and_does_not_reach_the_model(pi_session, script, commands):
    script.turn(text("Hi."))
    pi_session.limit_commands()

    refused = await run_all(pi_session)

    assert refused["publish"] == (
        "/publish is not available here: it touches files and network, which this front end does not permit."
    )
    assert "does not declare what it touches" in refused["undeclared"]
    assert script.requests == []


async def test_a_limit_stays_when_another_session_takes_its_place(pi_session, commands):
    pi_session.limit_commands()

    await pi_session.new_session()

    assert set(await run_all(pi_session)) == {"save", "publish", "undeclared", "later"}
