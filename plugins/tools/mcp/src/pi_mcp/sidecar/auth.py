"""Sign-in to a server over HTTP: the SDK's OAuth flow, a loopback page, and stored tokens."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode, urlsplit, urlunsplit

import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
)

from pi_mcp.sidecar.log import REDACTED
from pi_mcp.sidecar.tokens import TokenFile

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

__all__ = ["NotSignedIn", "sign_in"]

_PAGE = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nSigned in. You can close this page.\n"
_STRAY = (
    b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n"
    b"This is not the answer to the sign-in that pi has begun.\n"
)
_SECRET = ("access_token", "refresh_token")
_NOWHERE = "http://127.0.0.1/callback"
_METADATA_WAIT = 10
_METHODS = ("client_secret_basic", "client_secret_post")


class NotSignedIn(Exception):
    """The server requires a sign-in, which only the user can start."""


@asynccontextmanager
async def sign_in(
    spec: dict[str, Any], ask: Callable[[dict[str, Any]], Awaitable[Any]]
) -> AsyncIterator[tuple[Any, Any]]:
    """Return the SDK's authentication for a server, and a function that stores tokens from a cancelled refresh.

    Both are None if the server's headers already authorise it.

    Args:
        spec: pi's description of the server; ``login`` means that the user wants to sign in now, in ``loginSeconds``.
        ask: Asks the user through pi to open a page.
    """
    if any(name.lower() == "authorization" for name in spec.get("headers") or {}):
        yield None, None
        return
    oauth, login = spec.get("oauth") or {}, bool(spec.get("login"))
    tokens = _Tokens(spec, oauth, login=login)
    callback = _Callback(spec, ask, tokens)
    server = None
    if login:
        server = await asyncio.start_server(callback.serve, "127.0.0.1", int(oauth.get("callbackPort") or 0))
        callback.port = server.sockets[0].getsockname()[1]
    try:
        address = oauth.get("callbackUrl") or (f"http://127.0.0.1:{callback.port}/callback" if login else _NOWHERE)
        about = {
            "redirect_uris": [address],
            "client_name": oauth.get("clientName") or "pi",
            "scope": oauth.get("scope"),
        }
        tokens.address = address
        provider = _Provider(
            spec["url"],
            OAuthClientMetadata.model_validate(about),
            tokens,
            redirect_handler=callback.redirect,
            callback_handler=callback.wait,
            client_metadata_url=None if oauth.get("clientRegistration") == "dcr" else oauth.get("clientMetadataUrl"),
        )
        tokens.context = provider.context
        if login and oauth.get("authServerMetadataUrl"):
            await provider.use_metadata(oauth["authServerMetadataUrl"])
        yield provider, tokens.keep
    finally:
        if server is not None:
            server.close()


class _Provider(OAuthClientProvider):
    """The SDK's flow, optionally with the authorization server that the user configured."""

    _named: str | None = None

    async def use_metadata(self, url: str) -> None:
        """Use the authorization server with its metadata at this address, overriding the MCP server.

        Raises:
            NotSignedIn: There are none.
        """
        async with httpx2.AsyncClient(timeout=_METADATA_WAIT) as client:
            answer = await client.get(url)
        try:
            metadata = OAuthMetadata.model_validate_json(answer.raise_for_status().content)
        except ValueError as error:
            raise NotSignedIn(f"authServerMetadataUrl {url!r} has no metadata of an authorization server") from error
        self.context.oauth_metadata = metadata
        self.context.auth_server_url = self._named = str(metadata.issuer)

    def _select_authorization_server(self, advertised: list[str]) -> str:
        return self._named or super()._select_authorization_server(advertised)


class _Callback:
    """The page to which the browser returns."""

    def __init__(self, spec: dict[str, Any], ask: Callable[[dict[str, Any]], Awaitable[Any]], tokens: _Tokens) -> None:
        self._spec = spec
        self._ask = ask
        self._tokens = tokens
        self._came: asyncio.Future[dict[str, list[str]]] = asyncio.get_running_loop().create_future()
        self._pasting: asyncio.Task[None] | None = None
        self._state = ""
        self.port = 0

    async def redirect(self, url: str) -> None:
        """Let pi open the sign-in page; the user may paste the final address instead."""
        name = self._spec["name"]
        how = f"pi mcp login {name}, or /mcp login {name}"
        scope = parse_qs(urlsplit(url).query).get("scope", [""])[0]
        if self._tokens.lacks(scope):
            self._tokens.want(scope)  # the next sign-in asks for it
            raise NotSignedIn(f"it requires a sign-in with more permissions, {scope!r}: {how}")
        if not self._spec.get("login") or self._came.done():
            raise NotSignedIn(f"it requires a sign-in: {how}")
        if urlsplit(url).scheme not in ("http", "https"):
            raise NotSignedIn("its sign-in page is not a web address")
        self._tokens.check_server()
        self._tokens.choose_method()
        self._state = parse_qs(urlsplit(url).query).get("state", [""])[0]
        self._pasting = asyncio.create_task(self._paste(self._tokens.with_scope(url)))

    async def _paste(self, url: str) -> None:
        pasted = await self._ask({"kind": "login", "server": self._spec["server"], "url": url})
        if pasted:
            self._arrived(str(pasted))

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take the browser's request; any page and any user of the computer can send others, which have no state."""
        line = (await reader.readline()).decode("latin-1").split()
        address = line[1] if len(line) > 1 else ""
        is_ours = bool(self._state) and parse_qs(urlsplit(address).query).get("state") == [self._state]
        writer.write(_PAGE if is_ours else _STRAY)
        await writer.drain()
        writer.close()
        if is_ours:
            self._arrived(address)

    def _arrived(self, address: str) -> None:
        found = parse_qs(urlsplit(address).query)
        if not self._came.done() and ("code" in found or "error" in found):
            self._came.set_result(found)

    async def wait(self) -> AuthorizationCodeResult:
        """Return the parameters of the browser's request."""
        seconds = self._spec["loginSeconds"]
        try:
            found = await asyncio.wait_for(self._came, seconds)
        except TimeoutError:
            raise NotSignedIn(f"there was no sign-in within {seconds:g} s") from None
        finally:
            if self._pasting is not None:
                self._pasting.cancel()
        if "error" in found:
            raise NotSignedIn(f"the sign-in was refused: {found['error'][0]}")
        values = {key: found[key][0] for key in ("code", "state", "iss") if key in found}
        return AuthorizationCodeResult(**values)


class _Tokens:
    """The tokens of one server, in the form of the SDK's storage."""

    def __init__(self, spec: dict[str, Any], oauth: dict[str, Any], *, login: bool) -> None:
        self._file = TokenFile(Path(spec["authFile"]), spec["name"], spec["url"])
        self._oauth = oauth
        self._login = login
        self.address = ""
        self.context: Any = None

    def lacks(self, scope: str) -> bool:
        """Whether there is a sign-in that does not cover all of a scope."""
        tokens = self.context.current_tokens
        return tokens is not None and not set(scope.split()) <= set((tokens.scope or "").split())

    def want(self, scope: str) -> None:
        """Store the scope that the server requests."""
        self._file.put("wanted", {"scope": scope})

    def with_scope(self, url: str) -> str:
        """Return the sign-in address with the scope that the user configured and the server has requested since."""
        wanted = (self._file.get("wanted") or {}).get("scope") or ""
        asked = self._oauth.get("scope") or self.context.client_metadata.scope or ""
        scope = " ".join(dict.fromkeys([*asked.split(), *wanted.split()]))
        if not scope:
            return url
        self.context.client_metadata.scope = scope
        parts = urlsplit(url)
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        return urlunsplit(parts._replace(query=urlencode({**query, "scope": scope})))

    def check_server(self) -> None:
        """Check the authorization server before the user signs in there.

        Raises:
            NotSignedIn: It does not say that it protects sign-ins with PKCE (the MCP specification wants that it is
                refused then), or it is not the one that the user's client secret was used with before.
        """
        metadata = self.context.oauth_metadata
        if metadata is None:  # a server of the first specification, which has none
            issuer = str(self.context.auth_server_url or "")
        else:
            issuer = str(metadata.issuer)
            if "S256" not in (metadata.code_challenge_methods_supported or ()):
                raise NotSignedIn(
                    f"its authorization server {issuer} does not say that it supports PKCE with S256"
                    " (code_challenge_methods_supported), so a sign-in there could be stolen"
                )
        known = (self._file.get("issuer") or {}).get("issuer")
        if self._has_own_secret and known not in (None, issuer) and not self._oauth.get("authServerMetadataUrl"):
            raise NotSignedIn(
                f"it now names the authorization server {issuer}, but oauth.clientSecret was used with {known} and is"
                f" sent nowhere else. If the change is right: pi mcp logout, and then login again"
            )

    @property
    def _has_own_secret(self) -> bool:
        return bool(self._oauth.get("clientId") and self._oauth.get("clientSecret"))

    def choose_method(self) -> None:
        """Choose a method that the server accepts for a registered client; otherwise the SDK sends no secret."""
        if self._has_own_secret:
            metadata = self.context.oauth_metadata
            known = getattr(metadata, "token_endpoint_auth_methods_supported", None) or _METHODS
            self.context.client_info.token_endpoint_auth_method = next(
                (each for each in _METHODS if each in known), "none"
            )

    async def get_tokens(self) -> OAuthToken | None:
        found = self._file.get("tokens")
        if not found or self._login:
            return None
        REDACTED.add([str(found.get(each, "")) for each in _SECRET])
        # The SDK keeps neither of these, and without them signs in anew where a refresh would do.
        self.context.token_expiry_time = found.get("expires_at")
        if metadata := self._file.get("metadata"):
            self.context.oauth_metadata = OAuthMetadata.model_validate(metadata)
        return OAuthToken.model_validate(found)

    async def set_tokens(self, tokens: OAuthToken) -> None:
        values = tokens.model_dump(mode="json", exclude_none=True)
        REDACTED.add([str(values.get(each, "")) for each in _SECRET])
        if tokens.expires_in is not None:
            values["expires_at"] = time.time() + tokens.expires_in
        if self._has_own_secret:
            metadata = self.context.oauth_metadata
            issuer = str(metadata.issuer if metadata is not None else self.context.auth_server_url or "")
            self._file.put("issuer", {"issuer": issuer})
        if self.context.oauth_metadata is not None:
            self._file.put("metadata", self.context.oauth_metadata.model_dump(mode="json", exclude_none=True))
        self._file.put("tokens", values)

    async def keep(self, content: bytes) -> None:
        """Store the answer to a refresh whose call was cancelled."""
        try:
            tokens = OAuthToken.model_validate_json(content)
        except ValueError:
            return
        before = self.context.current_tokens
        if before is not None:  # what an answer leaves out has not changed
            tokens.scope = tokens.scope or before.scope
            tokens.refresh_token = tokens.refresh_token or before.refresh_token
        self.context.current_tokens = tokens
        self.context.update_token_expiry(tokens)
        await self.set_tokens(tokens)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        if self._oauth.get("clientId"):
            about = {"client_id": self._oauth["clientId"], "client_secret": self._oauth.get("clientSecret")}
            client = OAuthClientInformationFull.model_validate({**about, "redirect_uris": [self.address]})
            self.context.client_info = client
            self.choose_method()
            return client
        # A client is registered for its address, and a sign-in has a new one.
        found = None if self._login else self._file.get("client")
        return OAuthClientInformationFull.model_validate(found) if found else None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        if self._login:
            self._file.put("client", client_info.model_dump(mode="json", exclude_none=True))
