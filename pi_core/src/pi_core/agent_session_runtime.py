"""``AgentSessionRuntime``: a session together with what it stands on, for programs that go from one to the next.

It adds nothing to ``AgentSession``, which replaces its conversation itself (pi.md 16, runtime).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

from attrs import frozen

from pi_core.create import create_agent_session

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from pi_core.agent_session import AgentSession
    from pi_core.agent_session.replacing import ForkOutcome
    from pi_core.host import PluginHost
    from pi_core.models.registry import ModelRegistry
    from pi_core.session import SessionManager
    from pi_core.settings import Settings
    from pi_hookspecs import ResourceLoader

__all__ = ["AgentSessionRuntime", "AgentSessionServices", "create_agent_session_runtime"]


@frozen(kw_only=True)
class AgentSessionServices:
    """What a session of a folder stands on; ``create_agent_session`` takes all of it for another one."""

    cwd: Path
    host: PluginHost
    settings: Settings
    model_registry: ModelRegistry
    resource_loader: ResourceLoader


class AgentSessionRuntime:
    """Goes from one conversation to the next. Use it as ``async with``; make it with ``create_agent_session_runtime``.

    Args:
        session: Stays the same, and its listeners and plugins with it, whatever it is about.
    """

    def __init__(self, session: AgentSession) -> None:
        self.session = session

    @property
    def services(self) -> AgentSessionServices:
        """What the session stands on."""
        session = self.session
        return AgentSessionServices(
            cwd=session.cwd,
            host=session.host,
            settings=session.settings,
            model_registry=session.models,
            resource_loader=session.resources,
        )

    async def __aenter__(self) -> Self:
        await self.session.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.dispose()

    async def new_session(
        self,
        *,
        parent_session: str | None = None,
        setup: Callable[[SessionManager], Awaitable[None] | None] | None = None,
    ) -> bool:
        """Begin a new conversation, see ``AgentSession.new_session``."""
        return await self.session.new_session(parent_session=parent_session, setup=setup)

    async def switch_session(self, session_path: str | Path) -> bool:
        """Go over to a stored conversation, see ``AgentSession.switch_session``."""
        return await self.session.switch_session(session_path)

    async def fork(self, entry_id: str, position: Literal["before", "at"] = "before") -> ForkOutcome:
        """Go over to a copy that ends at an entry, see ``AgentSession.fork``."""
        return await self.session.fork(entry_id, position)

    async def import_from_jsonl(self, path: str | Path) -> bool:
        """Copy a session file to where sessions are kept and go over to it, see ``AgentSession.import_from_jsonl``."""
        return await self.session.import_from_jsonl(path)

    async def dispose(self) -> None:
        """End the session."""
        await self.session.dispose()


def create_agent_session_runtime(
    factory: Callable[..., AgentSession] = create_agent_session, **options: Any
) -> AgentSessionRuntime:
    """Return the runtime of a new session; call it inside a running event loop.

    Args:
        factory: Makes the session.
        options: For the factory; those of ``create_agent_session`` unless another one is given.
    """
    return AgentSessionRuntime(factory(**options))
