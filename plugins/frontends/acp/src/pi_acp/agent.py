"""The agent: its sessions, and the handlers of an editor's requests."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from pi_acp.client import Abilities, Client
from pi_acp.greeting import KEYS, SIGN_IN, greeting
from pi_acp.params import absolute_folder, folders, mcp_servers, optional_text, text, trace_context
from pi_acp.peer import AUTH_REQUIRED, INVALID_PARAMS, NOT_FOUND, RpcError
from pi_acp.permissions import MODES
from pi_hookspecs import MissingKey, NoModel

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pi_acp.greeting import Greeted
    from pi_acp.peer import Handlers, Peer
    from pi_acp.session import EditorSession
    from pi_acp.start_options import StartOptions
    from pi_core import PluginHost, SessionManager

__all__ = ["Agent"]


class Agent:
    """Serves one editor.

    Args:
        peer: The connection to the editor.
        host: The plugins of the folder that pi was started in; each session has its own.
        greeted: What was already exchanged with the editor.
        options: The options of the command line.

    Attributes:
        requests: Handlers of requests, by method.
        notifications: Handlers of notifications, by method.
    """

    def __init__(self, peer: Peer, host: PluginHost, greeted: Greeted, options: StartOptions | None = None) -> None:
        self._peer = peer
        self._host = host
        self._options = options
        self._version = greeted.version
        self._can = Abilities.of(greeted.params.get("clientCapabilities"))
        self._sessions: dict[str, EditorSession] = {}
        self.requests: Handlers = {
            "initialize": self._initialize,
            "authenticate": self._authenticate,
            "logout": self._logout,
            "session/new": self._new,
            "session/load": self._load,
            "session/resume": self._resume,
            "session/list": self._list,
            "session/delete": self._delete,
            "session/fork": self._fork,
            "session/close": self._close,
            "session/prompt": self._prompt,
            "session/set_mode": self._set_mode,
            "session/set_config_option": self._set_config_option,
        }
        self.notifications: Handlers = {"session/cancel": self._cancel}

    async def close(self) -> None:
        """End all sessions."""
        sessions = [*self._sessions.values()]
        self._sessions.clear()
        await asyncio.gather(*(each.close() for each in sessions), return_exceptions=True)

    # The connection

    async def _initialize(self, params: dict[str, Any]) -> dict[str, Any]:
        self._can = Abilities.of(params.get("clientCapabilities"))
        return greeting(params, self._version)

    async def _authenticate(self, params: dict[str, Any]) -> dict[str, Any]:
        """Accept: keys and logins are read again when a request needs them."""
        if text(params, "methodId") not in (SIGN_IN["id"], KEYS["id"]):
            raise RpcError(INVALID_PARAMS, f"Invalid params: there is no sign-in {params['methodId']!r:.200}")
        return {}

    async def _logout(self, _params: dict[str, Any]) -> dict[str, Any]:
        """Remove the stored logins of the providers that the sessions use, or of the default one without sessions."""
        from pi_core import ModelRegistry

        models = ModelRegistry(self._host, self._host.settings)
        used = {each.session.model.provider for each in self._sessions.values() if each.session.model is not None}
        if not used:
            try:
                used = {models.choose().provider}
            except NoModel:
                return {}
        for provider in used:
            await models.auth.remove(provider)
        return {}

    # Sessions

    async def _new(self, params: dict[str, Any]) -> dict[str, Any]:
        def create(cwd: Path, host: PluginHost) -> SessionManager:
            from pi_core import SessionManager

            return SessionManager.create(cwd, host=host)

        return await self._open(params, create)

    async def _load(self, params: dict[str, Any]) -> dict[str, Any]:
        return await self._open_stored(params, replay=True)

    async def _resume(self, params: dict[str, Any]) -> dict[str, Any]:
        return await self._open_stored(params, replay=False)

    async def _open_stored(self, params: dict[str, Any], *, replay: bool) -> dict[str, Any]:
        session_id = text(params, "sessionId")
        absolute_folder(params)  # refused before the open session is closed
        open_already = self._sessions.pop(session_id, None)
        if open_already is not None:
            await open_already.close()

        def reopen(cwd: Path, host: PluginHost) -> SessionManager:
            from pi_core import SessionManager

            stored = SessionManager.find_by_id(session_id, host=host)
            if stored is None:
                raise _no_session(session_id)
            return SessionManager.open(stored.path, cwd=cwd, host=host)

        answer = await self._open(params, reopen, replay=replay)
        del answer["sessionId"]
        return answer

    async def _fork(self, params: dict[str, Any]) -> dict[str, Any]:
        source_id = text(params, "sessionId")
        source = self._sessions.get(source_id)

        def copy(cwd: Path, host: PluginHost) -> SessionManager:
            from pi_core import SessionManager

            if source is not None:
                manager = source.session.session_manager
                if manager.leaf_id is None or not manager.is_persisted:
                    return SessionManager.create(cwd, host=host)
                if not manager.is_saved:
                    manager.begin_storing()
                return SessionManager.fork_from(manager.reference, cwd, host=host)
            stored = SessionManager.find_by_id(source_id, host=host)
            if stored is None:
                raise _no_session(source_id)
            return SessionManager.fork_from(stored.path, cwd, host=host)

        return await self._open(params, copy)

    async def _open(
        self,
        params: dict[str, Any],
        open_manager: Callable[[Path, PluginHost], SessionManager],
        *,
        replay: bool = False,
    ) -> dict[str, Any]:
        """Open a session and return its state for the editor."""
        from pi_acp.opening import open_session

        cwd, more, servers = absolute_folder(params), folders(params), mcp_servers(params)
        client = Client(self._peer, self._can)
        try:
            editor = await open_session(
                client, cwd, more, servers, open_manager=open_manager, started_with=self._host, options=self._options
            )
        except (NoModel, MissingKey) as error:
            raise RpcError(AUTH_REQUIRED, f"Authentication required: {error}") from error
        self._sessions[client.session_id] = editor
        if replay:
            await editor.replay()
        editor.announce()
        return {"sessionId": client.session_id, **editor.state()}

    async def _list(self, params: dict[str, Any]) -> dict[str, Any]:
        from pi_acp.stored import list_page

        cwd = absolute_folder(params) if params.get("cwd") is not None else None
        return await list_page(self._host, cwd, optional_text(params, "cursor"))

    async def _delete(self, params: dict[str, Any]) -> dict[str, Any]:
        from pi_acp.stored import delete

        session_id = text(params, "sessionId")
        editor = self._sessions.pop(session_id, None)
        if editor is not None:
            await editor.close()
        if not await delete(self._host, session_id) and editor is None:
            raise _no_session(session_id)
        return {}

    async def _close(self, params: dict[str, Any]) -> dict[str, Any]:
        editor = self._session(params)
        del self._sessions[params["sessionId"]]
        await editor.close()
        return {}

    # In a session

    async def _prompt(self, params: dict[str, Any]) -> dict[str, Any]:
        return await self._session(params).prompt(params.get("prompt"), trace_context(params))

    async def _cancel(self, params: dict[str, Any]) -> None:
        self._session(params).cancel()

    async def _set_mode(self, params: dict[str, Any]) -> dict[str, Any]:
        editor, mode = self._session(params), text(params, "modeId")
        known = next((each for each in MODES if each == mode), None)
        if known is None:
            raise RpcError(INVALID_PARAMS, f"Invalid params: there is no mode {mode!r:.200}, only {', '.join(MODES)}")
        editor.permissions.mode = known
        editor.updates.send("current_mode_update", currentModeId=mode)
        return {}

    async def _set_config_option(self, params: dict[str, Any]) -> dict[str, Any]:
        from pi_acp.options import change_option

        editor = self._session(params)
        await change_option(editor.session, text(params, "configId"), params.get("value"))
        return {"configOptions": editor.state()["configOptions"]}

    def _session(self, params: dict[str, Any]) -> EditorSession:
        editor = self._sessions.get(text(params, "sessionId"))
        if editor is None:
            raise _no_session(params["sessionId"])
        return editor


def _no_session(session_id: str) -> RpcError:
    return RpcError(NOT_FOUND, f"Resource not found: there is no session {session_id!r:.200}")
