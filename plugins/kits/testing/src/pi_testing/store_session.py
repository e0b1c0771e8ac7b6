"""A conversation in a store under test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pi_hookspecs import SessionPlace, SessionStore
    from pi_testing.scripted import ScriptedProvider

__all__ = ["prompted"]


@frozen(eq=False)
class _Stores:
    """A plugin with one store."""

    make: Callable[[SessionPlace], SessionStore]
    kind: type[SessionStore]

    @hookimpl
    def register_session_stores(self) -> Sequence[type[SessionStore]]:
        # A class of these methods is asked for, and the test's way of making one may be another than calling it.
        return [type("Store", (self.kind,), {"__new__": lambda _, place: self.make(place)})]


async def prompted(
    question: str,
    *,
    make: Callable[[SessionPlace], SessionStore],
    kind: type[SessionStore],
    cwd: Path,
    agent_dir: Path,
    script: ScriptedProvider,
) -> None:
    """Go on with the latest session of a folder, or begin one: a process of its own could do the same."""
    from pi_core import PluginHost, SessionManager, Settings, create_agent_session

    host = PluginHost(Settings.in_memory({"sessionStore": kind.name}, agent_dir=agent_dir), installed=False)
    host.add(_Stores(make, kind), "store-under-test")
    manager = SessionManager.continue_recent(cwd, host=host)
    async with create_agent_session(
        cwd=cwd,
        host=host,
        settings=host.settings,
        model=script.model,
        plugins={"script": script},
        session_manager=manager,
        tools=[],
    ) as session:
        await session.prompt(question)
