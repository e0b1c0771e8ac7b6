"""Secret values: keys, tokens and passwords that must not be stored, displayed or sent anywhere."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from pi_hookspecs.deferred import field, frozen
from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["KnownSecret", "SecretValues", "TextStream", "is_secret_name", "is_secret_variable"]

_PARTS = (
    "api_key",
    "apikey",
    "passw",
    "passphrase",
    "credential",
    "authorization",
    "connection_string",
    "connectionstring",
)
_WORDS = frozenset(
    (
        *("auth", "bearer", "cookie", "cred", "creds", "dsn", "jwt", "key", "keys", "pass", "pat", "private", "pwd"),
        *("secret", "secrets", "sk", "token", "tokens", "webhook"),
    )
)
_ENDS = ("key", "secret", "token")
_HARMLESS = frozenset(("count", "limit", "max", "min", "monkey", "num"))
_PLACES = frozenset(("dir", "file", "path", "port", "sock"))
_WITH_PASSWORD = re.compile(r"[a-z][a-z0-9+.-]*://[^\s/?#@:]*:[^\s/?#@]+@", re.IGNORECASE)


@lru_cache(maxsize=1024)
def is_secret_name(name: str) -> bool:
    """Return whether the value of a variable, a field or a header of this name is a secret.

    ``GITHUB_TOKEN``, ``PGPASSWORD``, ``apiKey`` and ``X-Auth`` are such names; ``GIT_AUTHOR_NAME``, ``MAX_TOKENS`` and
    ``SSH_AUTH_SOCK`` are not. This is the only place where that is decided: ask it instead of a list of your own.
    """
    lowered = name.lower().replace("-", "_")
    words = [word.rstrip("0123456789") for word in lowered.split("_")]
    if lowered == "pwd" or words[-1] in _PLACES or not _HARMLESS.isdisjoint(words):
        return False
    return words[-1].endswith(_ENDS) or not _WORDS.isdisjoint(words) or any(part in lowered for part in _PARTS)


def is_secret_variable(name: str, value: str) -> bool:
    """Return whether a variable is a secret: by its name, or because it is a URL with a password.

    ``DATABASE_URL=postgres://app:pw@db/app`` is one; ``DATABASE_URL=postgres://db/app`` is not.
    """
    return is_secret_name(name) or _WITH_PASSWORD.search(value) is not None


class TextStream(Protocol):
    """Removes secrets from a text that comes in pieces, cut anywhere; see ``SecretValues.stream``."""

    def feed(self, piece: str) -> str:
        """Return what may be written by now; the rest is held back, because a secret may begin in it."""
        ...

    def end(self) -> str:
        """Return the rest."""
        ...


@frozen(kw_only=True, eq=False, repr=False)
class KnownSecret(Value):
    """A secret value and its source.

    Attributes:
        source: The environment variable, the provider of the entry in ``auth.json``, ``request`` for a key or a header
            that a request was made with, or the plugin that added it.
        value: The secret itself; not part of ``repr``.
    """

    source: str
    value: str = field(repr=False)


@runtime_checkable
class SecretValues(Protocol):
    """The known secret values, and functions that remove them from texts.

    These are the values of environment variables with a name such as ``..._KEY`` or ``..._TOKEN``, the keys and
    logins of ``auth.json``, ``--api-key``, the key and the configured headers of each request, and what plugins
    add. Values of fewer than six characters are not kept: they would match ordinary words. No ``repr`` contains a
    value.
    """

    def redact(self, text: str) -> str:
        """Return a text with each known secret replaced by ``[redacted]``; nothing else is changed."""
        ...

    def clean(self, text: str) -> str:
        """Return a text as it may be written somewhere: to a file, an export, telemetry, a log, an index.

        The ``TextRedactor`` services replace known secrets and texts that look like secrets, unless the user turned
        that off. Without such a service, this does the same as ``redact``.

        Raises:
            PiError: Such a plugin failed; do not write the text.
        """
        ...

    def stream(self) -> TextStream:
        """Return an object that does the same with a text that comes in pieces; it may be used from another thread."""
        ...

    def add(self, secret: str) -> None:
        """Add a secret for the rest of the process, such as a token that the plugin got from a server.

        It is redacted from the debug log and from the stored system prompt, too.
        """
        ...

    def known(self) -> Sequence[KnownSecret]:
        """Return the known secrets, the longest first: one may be the beginning of another."""
        ...

    async def resolve(self, value: str) -> str | None:
        """Resolve a configured value, such as a key in ``models.json``.

        ``!command`` is the output of a shell command, which runs once and is added; ``$NAME`` and ``${NAME}`` are
        environment variables; any other text is a literal. Pass the latter two to ``add`` if they are secrets.

        Returns:
            None if a variable is not set.

        Raises:
            UserError: The command failed, took too long or printed nothing; the message does not contain its output.
        """
        ...
