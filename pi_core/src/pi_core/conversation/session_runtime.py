"""What sessions stand on, made once for several of them, and ``AgentSessionRuntime``, a session together with it.

The runtime adds nothing to ``AgentSession``, which replaces its conversation itself.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from attrs import frozen

from pi_core.create import create_agent_session, prepare_host
from pi_core.models.registry import ModelRegistry
from pi_core.resources import DefaultResourceLoader
from pi_core.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from pi_core.conversation import AgentSession
    from pi_core.conversation.switching import ForkOutcome
    from pi_core.host import PluginHost
    from pi_core.models.auth_storage import AuthStorage
    from pi_core.session import SessionManager
    from pi_hookspecs import PiAPI, ResourceLoader

__all__ = [
    "AgentSessionRuntime",
    "AgentSessionServices",
    "create_agent_session_from_services",
    "create_agent_session_runtime",
    "create_agent_session_services",
]


@frozen(kw_only=True)
class AgentSessionServices:
    """What a session of a folder stands on; ``create_agent_session_from_services`` makes another one of it."""

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


def create_agent_session_services(
    *,
    cwd: str | Path | None = None,
    agent_dir: str | Path | None = None,
    settings: Settings | None = None,
    auth_storage: AuthStorage | None = None,
    resource_loader: ResourceLoader | None = None,
    host: PluginHost | None = None,
    plugins: Mapping[str, object] | None = None,
    extensions: Sequence[str | Path] = (),
    no_extensions: bool = False,
    extension_factories: Sequence[Callable[[PiAPI], None]] = (),
    environ: Mapping[str, str] | None = None,
) -> AgentSessionServices:
    """Load plugins, settings, models and keys of a folder once, for every session that is to work there.

    The options are those of ``create_agent_session``.
    """
    here = Path(cwd or Path.cwd()).resolve()
    settings = settings or Settings.load(here, agent_dir=Path(agent_dir) if agent_dir is not None else None)
    host = prepare_host(
        host,
        cwd=here,
        settings=settings,
        plugins=plugins or {},
        extensions=extensions,
        no_extensions=no_extensions,
        extension_factories=extension_factories,
        environ=environ,
    )
    loader = resource_loader or DefaultResourceLoader(environ=environ)
    if isinstance(loader, DefaultResourceLoader):
        loader.use(cwd=here, settings=settings, host=host)
    return AgentSessionServices(
        cwd=here,
        host=host,
        settings=settings,
        model_registry=ModelRegistry(host, settings, environ, auth=auth_storage),
        resource_loader=loader,
    )


def create_agent_session_from_services(services: AgentSessionServices, **options: Any) -> AgentSession:
    """Return a session that stands on these services; call it inside a running event loop.

    Args:
        services: Shared with other sessions, whose conversations, tools and queues stay their own.
        options: The other ones of ``create_agent_session``, such as ``model``, ``tools`` and ``session_manager``.
    """
    return create_agent_session(
        cwd=services.cwd,
        host=services.host,
        settings=services.settings,
        model_registry=services.model_registry,
        resource_loader=services.resource_loader,
        **options,
    )
