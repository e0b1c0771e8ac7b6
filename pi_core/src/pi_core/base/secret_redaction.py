"""Redaction of secrets in texts that are stored: known values, and texts that look like keys."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pi_core.agent.safe_text import REDACTED, SHORTEST_SECRET, without_secrets
from pi_hookspecs.errors import PiError
from pi_hookspecs.secrets import is_secret_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

__all__ = ["SecretRedaction", "secrets_in"]

_QUERY = r"(?i)(\bhttps?://[^\s?#\"'<>]*)[?#][^\s\"'<>]*"
_USER = r"(?i)(\bhttps?://)[^\s/@\"'<>]*@"
_FORMS = (
    r"(?i)"
    r"\b(?:bearer|basic)\s+[\w.~+/=-]{6,}|\b(?:sk|pk|gh[opsu]|github_pat|glpat|xox[abpr])[-_][\w-]{8,}"
    r"|\bAIza[\w-]{20,}|\bya29\.[\w.-]{8,}|\bAKIA[0-9A-Z]{12,}|\beyJ[\w-]{8,}\.[\w.-]{8,}"
)
"""Patterns are compiled on first use, because the record of a prompt needs only the known secrets."""


class SecretRedaction:
    """Replaces secrets in texts.

    Args:
        environ: Environment variables; the values of variables with a name such as ``..._KEY`` are known secrets.
        stored: The content of auth.json; its texts under such names are known secrets.

    Attributes:
        more: Removes further secrets from a text, on behalf of plugins; by default it returns the text unchanged.
    """

    def __init__(self, environ: Mapping[str, str], stored: Path | None = None) -> None:
        self._known: set[str] = set()
        self.more: Callable[[str], str] = str
        for name, value in environ.items():
            if is_secret_name(name):
                self.add(value)
        with suppress(OSError, ValueError):  # no keys to protect, or no usable keys
            self.add_stored(json.loads(stored.read_bytes()) if stored is not None else {})

    def add_stored(self, content: object) -> None:
        """Add the secrets in the content of auth.json."""
        for value in _texts(content):
            self.add(value)

    def add(self, secret: str) -> None:
        """Add a secret."""
        if len(secret) >= SHORTEST_SECRET:
            self._known.add(secret)

    def redact_known(self, value: Any) -> Any:
        """Return a text, or data that contains texts, with known secrets redacted and everything else unchanged."""
        if isinstance(value, dict):
            return {key: self.redact_known(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [self.redact_known(each) for each in value]
        if isinstance(value, str):
            return without_secrets(value, self._known)
        return value

    def redact(self, text: str) -> str:
        """Return a text with secrets redacted and with user and query removed from its URLs."""
        with suppress(PiError):  # raised by a plugin; the other steps do not depend on it
            text = self.more(text)
        text = self.redact_known(text)
        text = re.sub(_USER, r"\1", re.sub(_QUERY, r"\1", text))
        return re.sub(_FORMS, REDACTED, text)


def secrets_in(content: object) -> Iterator[str]:
    """Yield the texts in the content of auth.json, or of an object with variables, that count as secrets."""
    return (text for text in _texts(content) if len(text) >= SHORTEST_SECRET)


def _texts(content: object, name: str = "") -> Iterator[str]:
    """Yield the texts in auth.json that are secrets according to their names."""
    if isinstance(content, dict):
        for key, value in content.items():
            yield from _texts(value, str(key))
    elif isinstance(content, str) and (is_secret_name(name) or name in ("access", "refresh")):
        yield content
