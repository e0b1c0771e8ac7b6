"""Credentials: reads and writes ``auth.json``, and defines which key is used when there are several.

The file is shared with the TypeScript pi: one object per provider, mode 0600 in a folder of mode 0700, changed only
while holding the lock that it uses too. No ``repr`` contains a key.
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
import stat
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_core.agent.safe_text import secret_sources
from pi_core.base.configured_values import ConfiguredValues
from pi_core.base.process.start_policies import StartPolicies
from pi_core.settings import agent_dir
from pi_hookspecs import PiError, UserError, now_ms

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence

    from pi_core.base.secret_redaction import SecretRedaction
    from pi_hookspecs import CredentialSource, Login

__all__ = ["AuthStorage"]


class AuthStorage:
    """Stored credentials and keys of this process. Create it with ``create`` or ``in_memory``.

    Args:
        file: ``auth.json``; None keeps everything in memory.
        environ: Environment variables; None uses the environment of the process.
        login: Returns the plugin's login of a provider, which refreshes tokens; ``get_api_key`` can override it.
    """

    def __init__(
        self,
        file: Path | None,
        *,
        environ: Mapping[str, str] | None = None,
        login: Callable[[str], Login | None] = lambda _provider: None,
    ) -> None:
        self.file = file
        self._environ = os.environ if environ is None else environ
        self._login = login
        self.start_policies = StartPolicies()
        """What is asked before a key command is started."""
        self._values = ConfiguredValues(self._environ, self.start_policies)
        self._scoped: dict[str, ConfiguredValues] = {}
        self._runtime: dict[str, str] = {}
        self._used: dict[str, str] = {}
        self._variables: dict[str, str] | None = None
        self._variable_secrets: dict[str, str] = {}
        self.on_secret: Callable[[str], None] | None = None
        """Called with the value of every key and configured header of a request, and with the secrets of plugins."""
        self._stored: dict[str, dict[str, Any]] = {}
        self._seen: tuple[int, int] | None = None
        self._known: tuple[tuple[dict[str, Any], ...], dict[str, str]] | None = None
        self._memory_lock = asyncio.Lock()
        secret_sources.add(self)
        self.problem: str | None = None
        """One line for the user on why the file could not be read; its entries are then ignored."""

    @classmethod
    def create(cls, file: str | Path | None = None, **options: Any) -> AuthStorage:
        """Return the storage of a file; None uses ``auth.json`` in the agent directory."""
        environ = options.get("environ")
        return cls(Path(file) if file is not None else agent_dir(environ) / "auth.json", **options)

    @classmethod
    def in_memory(cls, stored: Mapping[str, dict[str, Any]] | None = None, **options: Any) -> AuthStorage:
        """Return a storage without a file."""
        storage = cls(None, **options)
        storage._stored = {provider: dict(entry) for provider, entry in (stored or {}).items()}
        return storage

    def __repr__(self) -> str:
        return f"AuthStorage({str(self.file)!r})"

    # Stored credentials

    def providers(self) -> list[str]:
        """Return the providers with a stored credential."""
        return sorted(self._read())

    def get(self, provider: str) -> dict[str, Any] | None:
        """Return a copy of a stored credential, as written in the file."""
        entry = self._entry(provider)
        return dict(entry) if entry is not None else None

    def login_in_use(self, provider: str) -> dict[str, Any] | None:
        """Return a copy of the stored login that ``get_api_key`` uses; None if it uses another key."""
        entry = None if provider in self._runtime else self._entry(provider)
        return _with_current_names(entry) if entry is not None and entry.get("type") == "oauth" else None

    def own_variables(self, provider: str) -> dict[str, str]:
        """Return the variables that a stored credential has for its provider (``env``)."""
        own = (self._entry(provider) or {}).get("env")
        return {name: value for name, value in own.items() if isinstance(value, str)} if isinstance(own, dict) else {}

    def environ_of(self, provider: str) -> Mapping[str, str]:
        """Return the variables for a provider's key and base URL: the environment and ``env`` of its entry."""
        own = self.own_variables(provider)
        return {**self._environ, **own} if own else self._environ

    async def set(self, provider: str, credential: Mapping[str, Any]) -> None:
        """Store a credential; entries that other processes wrote in the meantime are kept."""
        await self._change(lambda stored: stored.update({provider: dict(credential)}))

    async def remove(self, provider: str) -> bool:
        """Delete a stored credential; return False if there was none."""
        from pi_core.models.renamed import other_name

        stored = self._read()
        had = provider if provider in stored else other_name(provider) or provider
        await self._change(lambda entries: entries.pop(had, None))
        return had in stored

    def set_runtime_api_key(self, provider: str, key: str) -> None:
        """Use a key for this process only (``--api-key``); it is never stored."""
        self._runtime[provider] = key

    def add_secret(self, secret: str, source: str) -> None:
        """Keep a secret that was used, or that a plugin knows, for ``redaction`` and ``known_secrets``."""
        self._used.setdefault(secret, source)
        if self.on_secret is not None:
            self.on_secret(secret)

    def redaction(self) -> SecretRedaction:
        """Return a redaction of all known keys and logins: of the environment, auth.json and this process."""
        from pi_core.base.secret_redaction import SecretRedaction

        redaction = SecretRedaction(self._environ)
        redaction.add_stored(self._read())
        for key in (*self._runtime.values(), *self._used):
            redaction.add(key)
        return redaction

    def known_secrets(self) -> dict[str, str]:
        """Return the secrets that ``redaction`` replaces, each with its source; see ``KnownSecret``."""
        from pi_core.base.secret_redaction import secrets_in

        encoded = getattr(self._environ, "_data", self._environ)  # of os.environ, which decodes all that is read of it
        basis = (self._read(), dict(encoded), dict(self._runtime), dict(self._used))
        if self._known is None or self._known[0] != basis:
            stored, _, runtime, used = basis
            environ = dict(self._environ)
            found = dict(used)
            found |= {value: provider for provider, entry in stored.items() for value in secrets_in(entry)}
            found |= {key: provider for provider, key in runtime.items()}
            found |= {value: name for name, text in environ.items() for value in secrets_in({name: text})}
            self._known = basis, found  # asked with each entry that is stored
        return dict(self._known[1])

    # Key lookup

    async def resolve(self, value: str) -> str | None:
        """Return the resolved value; None if a variable in it is not set.

        Raises:
            UserError: The command failed, took too long or printed nothing; the message names it, never
                its output.
        """
        return await self._values.resolve(value)

    def has_key(self, provider: str, variables: Sequence[str] = ()) -> bool:
        """Return whether a key is configured, without running a command or using the network."""
        return (
            provider in self._runtime
            or self._entry(provider) is not None
            or any(self._environ.get(variable) for variable in variables)
        )

    async def get_api_key(
        self,
        provider: str,
        variables: Sequence[str] = (),
        *,
        fallback: Callable[[], Awaitable[str | None]] | None = None,
        sources: Callable[[], Iterable[CredentialSource]] = tuple,
        login: Callable[[str], Login | None] | None = None,
        min_validity_ms: float = 0,
    ) -> str | None:
        """Return the key or token to send, from the first place that has one.

        Args:
            provider: The provider's id.
            variables: Environment variables that may contain its key.
            fallback: Called after the environment; returns the key of models.json.
            sources: Called last; returns the credential sources of plugins.
            login: Used instead of the ``login`` of the storage.
            min_validity_ms: Milliseconds that the token of a login has to be valid; it is refreshed if they are fewer.

        Raises:
            UserError: A ``!command`` failed, or a token could not be refreshed.
        """
        if (key := self._runtime.get(provider)) is not None:
            return key
        entry = self._entry(provider)
        if (
            entry is not None
            and (stored := await self._stored_key(provider, entry, login, min_validity_ms)) is not None
        ):
            return stored
        for variable in variables:
            if from_environment := self._environ.get(variable):
                return from_environment
        if fallback is not None and (other := await fallback()) is not None:
            return other
        for source in sources():
            if source.name in (provider, "*") and (key_from_plugin := await source.credential(provider)) is not None:
                return key_from_plugin
        return None

    async def _stored_key(
        self,
        provider: str,
        entry: dict[str, Any],
        find_login: Callable[[str], Login | None] | None,
        min_validity_ms: float,
    ) -> str | None:
        if entry.get("type") == "api_key":
            key, values = entry.get("key"), self._values
            if "env" in entry:
                values = self._scoped.setdefault(
                    repr(entry), ConfiguredValues(self.environ_of(provider), self.start_policies)
                )
            return await values.resolve(key) if isinstance(key, str) and key else None
        if entry.get("type") != "oauth":
            return None
        login = (find_login or self._login)(provider)
        if _expired(entry, min_validity_ms):
            fresh = await self._refreshed(provider, login, min_validity_ms)
        else:
            fresh = _with_current_names(entry)
        if not isinstance(fresh["access"], str) or not fresh["access"]:
            return None  # an edited file without a token counts as no login: the key may be configured elsewhere
        return login.api_key(fresh) if login is not None else fresh["access"]

    async def _refreshed(self, provider: str, login: Login | None, min_validity_ms: float) -> dict[str, Any]:
        """Return a login, refreshed under the lock unless another process has already refreshed it."""
        if login is None:
            message = (
                f'The login for "{provider}" has expired and no installed plugin can refresh it. Install the one that'
                f" signs in to it, or run pi auth logout {provider} and set a key."
            )
            raise UserError(message)
        async with self._locked():
            stored = self._read(again=True)
            entry = stored.get(provider)
            if entry is not None and _expired(entry, min_validity_ms):
                current = _with_current_names(entry)  # do not write the old token again under its old field name
                try:
                    entry = {**current, **await login.refresh(dict(current))}
                except PiError as error:
                    message = (
                        f'Authentication failed for "{provider}": {str(error).rstrip(".")}. The stored login is kept;'
                        f" run pi auth login {provider} to sign in again."
                    )
                    raise UserError(message) from error
                self._write({**stored, provider: entry})
            if entry is None:
                message = f'The login for "{provider}" was removed in the meantime; run pi auth login {provider}.'
                raise UserError(message)
            return _with_current_names(entry)

    # The file

    def _entry(self, provider: str) -> dict[str, Any] | None:
        """Return a provider's entry, which may be stored under the original's name of the provider."""
        stored = self._read()
        entry = stored.get(provider)
        if entry is not None or not stored:
            return entry
        from pi_core.models.renamed import other_name

        return stored.get(other_name(provider) or "")

    def _read(self, *, again: bool = False) -> dict[str, dict[str, Any]]:
        """Return the entries; the file is read again if it has changed."""
        if self.file is None:
            return self._stored
        try:
            status = self.file.stat()
            mark = (status.st_mtime_ns, status.st_size)
            if again or mark != self._seen:
                self._stored, self._seen = self._parsed(_content(self.file, status.st_mode)), mark
                self.problem = None
        except FileNotFoundError:
            self._stored, self._seen, self.problem = {}, None, None
        except (OSError, ValueError, RecursionError) as error:
            self._stored, self._seen = {}, None
            self.problem = f"{self.file}: cannot be used: {_reason(error)}. Stored logins and keys are ignored."
        return self._stored

    @staticmethod
    def _parsed(content: bytes) -> dict[str, dict[str, Any]]:
        entries = json.loads(content.decode("utf-8-sig") or "{}")
        if not isinstance(entries, dict) or not all(isinstance(entry, dict) for entry in entries.values()):
            raise ValueError  # without a message: the content may be a secret
        return entries

    async def _change(self, change: Callable[[dict[str, dict[str, Any]]], object]) -> None:
        async with self._locked():
            stored = dict(self._read(again=True))
            if self.problem is not None:
                message = f"{self.problem} Nothing was changed; repair or remove the file first."
                raise UserError(message)
            change(stored)
            self._write(stored)

    @asynccontextmanager
    async def _locked(self) -> AsyncIterator[None]:
        """Hold the lock of the file, or of the storage in memory."""
        if self.file is None:
            async with self._memory_lock:
                yield
            return
        from pi_core.base.directory_lock import directory_lock  # only needed to change the file

        async with directory_lock(self._resolve_target(self.file)):
            yield

    @staticmethod
    def _resolve_target(file: Path) -> Path:
        """Return the file with symbolic links resolved; create its folder."""
        try:
            target = file.resolve()
            if not target.parent.is_dir():
                target.parent.mkdir(parents=True, mode=0o700, exist_ok=True)
        except (OSError, RuntimeError) as error:  # RuntimeError: a cycle of links
            raise _write_error(file, error) from error
        return target

    def _write(self, stored: dict[str, dict[str, Any]]) -> None:
        """Replace the file atomically; after a crash the old file remains."""
        if self.file is None:
            self._stored = stored
            return
        from pi_core.base.replacing import replace_file  # writing is rare

        try:
            replace_file(self.file, json.dumps(stored, indent=2).encode(), mode=0o600, keep=False)
        except OSError as error:
            raise _write_error(self.file, error) from error
        self._read(again=True)


def _content(file: Path, mode: int) -> bytes:
    """Return the bytes of a file; a file that others can read gets mode 0600.

    Raises:
        OSError: The file cannot be read, or is not a regular file; reading from a pipe or a device may block forever.
    """
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is not a regular file")
    if os.name == "posix" and mode & 0o077:
        with suppress(OSError):  # another user may own it
            file.chmod(0o600)
    return file.read_bytes()


def _reason(error: Exception) -> str:
    """Return why the file cannot be used, without quoting its content, which may be a secret."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if isinstance(error, json.JSONDecodeError):
        return f"it is not JSON: {error.msg} (line {error.lineno}, column {error.colno})"
    return "it is not a JSON object of objects"


def _write_error(file: Path, error: OSError | RuntimeError) -> UserError:
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return UserError(f"{file}: cannot be written: {reason}. Nothing was changed.")


def _with_current_names(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return a login with the current field names; older files use ``access_token`` and ``refresh_token``."""
    current = {key: value for key, value in entry.items() if key not in ("access_token", "refresh_token")}
    current.setdefault("access", entry.get("access_token", ""))
    current.setdefault("refresh", entry.get("refresh_token", ""))
    return current


def _expired(entry: Mapping[str, Any], min_validity_ms: float = 0) -> bool:
    expires = entry.get("expires")
    return isinstance(expires, int | float) and expires <= now_ms() + min_validity_ms
