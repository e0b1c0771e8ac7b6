"""The services that several sessions can share, and ``AgentSessionRuntime``, which combines them with a session.

The runtime adds no behaviour to ``AgentSession``, which can replace its own conversation.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from attrs import frozen

from pi_core.create import create_agent_session, prepare_host
from pi_core.models.registry import ModelRegistry
from pi_core.resources import DefaultResourceLoader
from pi_core.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from typing import Literal

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
    """Services shared by the sessions of one directory; see ``create_agent_session_from_services``."""

    cwd: Path
    host: PluginHost
    settings: Settings
    model_registry: ModelRegistry
    resource_loader: ResourceLoader


class AgentSessionRuntime:
    """A session whose conversation can be replaced. Create it with ``create_agent_session_runtime``.

    Use it with ``async with``: entering starts the session, leaving disposes of it.

    Args:
        session: The session. Replacing its conversation keeps this object, its subscribers and its plugins.
    """

    def __init__(self, session: AgentSession) -> None:
        self.session = session

    @property
    def services(self) -> AgentSessionServices:
        """The services that this session can share with other sessions."""
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
        """Begin a new conversation; see ``AgentSession.new_session``."""
        return await self.session.new_session(parent_session=parent_session, setup=setup)

    async def switch_session(self, session_path: str | Path) -> bool:
        """Open a stored conversation; see ``AgentSession.switch_session``."""
        return await self.session.switch_session(session_path)

    async def fork(self, entry_id: str, position: Literal["before", "at"] = "before") -> ForkOutcome:
        """Open a copy of the conversation up to an entry; see ``AgentSession.fork``."""
        return await self.session.fork(entry_id, position)

    async def import_from_jsonl(self, path: str | Path) -> bool:
        """Copy a session file into the store and open the copy; see ``AgentSession.import_from_jsonl``."""
        return await self.session.import_from_jsonl(path)

    async def dispose(self) -> None:
        """Abort all running work and release all resources; see ``AgentSession.dispose``."""
        await self.session.dispose()


def create_agent_session_runtime(
    factory: Callable[..., AgentSession] = create_agent_session, **options: Any
) -> AgentSessionRuntime:
    """Return the runtime of a new session; call it inside a running event loop.

    Args:
        factory: A function that creates the session.
        options: Arguments for ``factory``; by default those of ``create_agent_session``.
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
    """Load the plugins, settings, models and keys of a directory once, to be shared by all sessions that work there.

    The arguments have the same meaning as in ``create_agent_session``.
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
    """Return a session that uses these services; call it inside a running event loop.

    Args:
        services: The shared services. Each session still has its own conversation, tools and queues.
        options: The remaining arguments of ``create_agent_session``, such as ``model``, ``tools`` and
            ``session_manager``.
    """
    return create_agent_session(
        cwd=services.cwd,
        host=services.host,
        settings=services.settings,
        model_registry=services.model_registry,
        resource_loader=services.resource_loader,
        **options,
    )
