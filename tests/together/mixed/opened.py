"""A drawn session in a home of its own, opened by the default assembly with a scripted model."""

from __future__ import annotations

import json
import os
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from attrs import define, field

from mixed.entries import Drawn
from pi_core import PluginHost, SessionManager, Settings, create_agent_session
from pi_hookspecs import UserError
from pi_testing import FakeUI, ScriptedProvider, text

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from pi_core import AgentSession

__all__ = ["Home", "Opened"]

SETTINGS: dict[str, Any] = {
    "todo": {"enabled": True},
    "agents": {"enabled": True},
    "budgets": {"session": {"dollars": 1000}},
    "compaction": {"keepRecentTokens": 1, "reserveTokens": 100},
}
"""Features that are off by default, or that do more with the entries of a session."""


@define
class Home:
    """Where the session's file, its settings and the work tree are.

    Attributes:
        folder: The user's home.
        cwd: A git repository.
        file: The session's file, in the store's folder.
        drawn: What it contains.
    """

    folder: Path
    cwd: Path
    file: Path
    drawn: Drawn

    @property
    def agent_dir(self) -> Path:
        return self.folder / "agent"

    def read(self) -> Drawn:
        """Return what the file contains now, if it has one branch."""
        lines = [json.loads(line) for line in self.file.read_text(encoding="utf-8").splitlines()][1:]
        messages = [line["message"] for line in lines if line["type"] == "message"]
        prompts = [each["content"][0]["text"] for each in messages if each["role"] == "user"]
        return Drawn(lines, prompts, prompts, ["what plugins wrote"])

    @classmethod
    @contextmanager
    def made(cls, folder: Path, cwd: Path, drawn: Drawn) -> Iterator[Home]:
        """Make a home with the session's file, the only one that the code of the block can see."""
        with pytest.MonkeyPatch.context() as patch:
            for name in list(os.environ):
                if name.startswith("PI_") or name.endswith("_API_KEY"):
                    patch.delenv(name)
            patch.setenv("HOME", str(folder))
            patch.setenv("PI_CODING_AGENT_DIR", str(folder / "agent"))
            patch.chdir(cwd)
            home = cls(folder, cwd, folder, drawn)
            store = SessionManager.create(cwd, host=home.host()).file
            assert store is not None
            store.parent.mkdir(parents=True, exist_ok=True)
            home.file = store.parent / "2026-01-02T03-04-05-678Z_c0ffee00-0000-7000-8000-000000000000.jsonl"
            home.file.write_bytes(drawn.write(str(cwd)))
            yield home

    def host(self, **more: Any) -> PluginHost:
        """Return the default assembly, with all installed plugins."""
        return PluginHost(Settings.in_memory({**SETTINGS, **more}, agent_dir=self.agent_dir))

    def only(self, data: bytes) -> None:
        """Write the session's file, and remove its copies and forks."""
        for each in self.file.parent.iterdir():
            each.unlink()
        self.file.write_bytes(data)

    def manager(self, host: PluginHost) -> SessionManager:
        """Return the session of the file."""
        return SessionManager.open(self.file, host=host)

    def listed(self, host: PluginHost) -> list[Any]:
        """Return the sessions in the store of a host's settings."""
        return [*SessionManager.list_all(host=host)]

    @asynccontextmanager
    async def opened(
        self,
        host: PluginHost,
        reference: str | Path | None = None,
        disable: tuple[str, ...] = (),
        script: ScriptedProvider | None = None,
    ) -> AsyncIterator[Opened]:
        """Open the session, or another of its store, as a program does that resumes it."""
        script, ui = script or ScriptedProvider(), FakeUI(dismiss_unexpected=True)
        for number in range(100):
            script.turn(text(f"scripted answer {number}"))
        session = create_agent_session(
            cwd=self.cwd,
            host=host,
            settings=host.settings,
            model=script.model,
            plugins={"script": script},
            session_manager=SessionManager.open(reference or self.file, host=host),
            ui=ui,
            disable=disable,
        )
        opened = Opened(self, session, ui)
        session.subscribe(opened.note, "extension_error")
        async with session:
            yield opened
        opened.check()


@define
class Opened:
    """An open session. ``problems`` are the failures that plugins had, with their stacks."""

    home: Home
    session: AgentSession
    ui: FakeUI
    problems: list[str] = field(factory=list)

    @property
    def drawn(self) -> Drawn:
        return self.home.drawn

    def note(self, event: Any) -> None:
        """Keep a plugin's failure; an error for the user, such as that of a command, has no stack."""
        if event.stack is not None:
            self.problems.append(f"{event.extension_path}: {event.error}\n{event.stack}")

    def check(self) -> None:
        """Raise an ``AssertionError`` if a plugin failed, or the user saw an unexpected error."""
        unexpected = [each.message for each in self.ui.notices if "nexpected" in each.message]
        assert not self.problems + unexpected, "\n".join([*self.problems, *unexpected])

    async def command(self, line: str) -> None:
        """Run a slash command; it may refuse."""
        try:
            await self.session.prompt(line)
        except UserError:
            return
        self.check()
