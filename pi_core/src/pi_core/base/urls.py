"""Which addresses may be opened in a browser: those that pi and every browser read alike."""

from __future__ import annotations

__all__ = ["url_problem"]

_SCHEMES = ("https", "http", "mailto")
_UNSAFE = frozenset(' "<>\\^`{|}')
"""Characters that are not valid in a URL. Browsers read some of them as others: a backslash is a slash to them, so that
another host is opened than the one that is shown."""


def url_problem(url: str) -> str | None:
    """Return why an address cannot be opened, as the rest of a sentence; None if it can."""
    if not url.isascii() or not url.isprintable() or not _UNSAFE.isdisjoint(url):
        return "it has characters that must be escaped"
    from urllib.parse import urlsplit  # only few plugins open pages

    try:
        parts = urlsplit(url)
    except ValueError as error:
        return str(error)
    if parts.scheme not in _SCHEMES:
        return f"its scheme is {parts.scheme!r}"
    if parts.scheme == "mailto":
        return None if parts.path else "it names no recipient"
    return None if parts.hostname else "it names no host"
