"""Opens pi's session for an editor's session: plugins, settings, trust, and the editor's permissions and files."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from pi_acp.session import EditorSession
from pi_acp.settings import TERMINAL
from pi_acp.start_options import StartOptions
from pi_core import (
    LocalExtensions,
    ModelRegistry,
    PluginHost,
    Settings,
    create_agent_session,
    print_warning,
    register_providers,
    with_mcp_tools,
)
from pi_hookspecs import ToolCallResult, UserError, hookimpl

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from pi_acp.client import Client
    from pi_core import SessionManager
    from pi_hookspecs import PiAPI, PiContext, ToolCallEvent

__all__ = ["SessionHooks", "open_session"]


class SessionHooks:
    """Hooks of one session; implements ``ToolOperations``.

    Args:
        owner: The session.
        servers: MCP servers of the editor, by name.
    """

    def __init__(self, owner: EditorSession, servers: Mapping[str, dict[str, Any]]) -> None:
        self._owner = owner
        self._servers = servers

    @hookimpl
    def activate(self, pi: PiAPI) -> None:
        """Register the editor's MCP servers for this session."""
        for name, config in self._servers.items():
            pi.register_mcp_server(name, config)

    @hookimpl(trylast=True)
    async def tool_call(self, event: ToolCallEvent, ctx: PiContext) -> ToolCallResult | None:
        """Ask the user, according to the session's mode, about a call after all other plugins have handled it."""
        ui: Any = ctx.ui  # that of this front end, which has more than the contract's
        reason = await ui.permit_call(event, ctx.signal)
        return None if reason is None else ToolCallResult(block=True, reason=reason)

    @hookimpl
    def register_services(self) -> Sequence[Any]:
        """Redirect tools to the editor, as far as it can."""
        can = self._owner.client.can
        return [self] if can.reads_files or can.writes_files or can.has_terminals else []

    def files(self, ctx: PiContext) -> Any:
        """Return the editor's files for a call about one of them."""
        return self._owner.files_of(getattr(ctx, "call_id", ""), getattr(ctx, "tool_name", ""))

    def commands(self, ctx: PiContext) -> Any:
        """Return the editor's terminals if the user has set ``acp.terminal``."""
        if not TERMINAL.read(ctx.settings):
            return None
        return self._owner.terminals(getattr(ctx, "call_id", ""))


async def open_session(
    client: Client,
    cwd: Path,
    folders: tuple[Path, ...],
    servers: Mapping[str, dict[str, Any]],
    *,
    open_manager: Callable[[Path, PluginHost], SessionManager],
    started_with: PluginHost,
    options: StartOptions | None = None,
) -> EditorSession:
    """Return a started session.

    Args:
        client: The editor.
        cwd: The session's folder.
        folders: Further folders of the session.
        servers: The editor's MCP servers.
        open_manager: Returns the conversation, new or stored.
        started_with: The plugins of the folder that pi was started in: plugins disabled or added on the command line
            apply to all sessions.
        options: The options of the command line.

    Raises:
        NoModel: No model can be used.
        MissingKey: The model's provider has no key.
        PiError: The session cannot start.
    """
    editor = EditorSession(client, cwd, folders)
    settings = Settings.load(cwd, agent_dir=started_with.settings.agent_dir)
    host = PluginHost(
        settings,
        disabled=started_with.disabled,
        builtins=started_with.builtins,
        no_builtins=started_with.no_builtins,
    )
    host.add(SessionHooks(editor, servers), "acp-session")
    common = started_with.extensions
    if common is not None:
        LocalExtensions(host, cwd=cwd, given=common.given, discover=common.discover, say=print_warning).load()
    host.load_listeners(cwd)
    notice = settings.trust_of(cwd).notice
    if notice is not None:
        print_warning(notice)
    models, manager = ModelRegistry(host, settings), open_manager(cwd, host)
    options = options or StartOptions()
    is_new = manager.build_session_context().model is None
    create = partial(
        create_agent_session,
        cwd=cwd,
        host=host,
        settings=settings,
        model_registry=models,
        session_manager=manager,
        ui=editor.ui,
        mode="acp",
        model=options.model if is_new else None,
        provider=options.provider if is_new else None,
        thinking_level=options.thinking if is_new else None,
        tools=with_mcp_tools(options.tools),
        exclude_tools=options.exclude_tools,
        flags=options.flags,
    )
    try:
        session = create()
    except UserError:
        if not register_providers(
            host, models
        ):  # the model may be one of a provider that a plugin adds in ``activate``
            raise
        session = create()
    try:
        await editor.start(session)
        session.models.check(session.runtime.required_model())
    except BaseException:
        await session.dispose()
        raise
    return editor
