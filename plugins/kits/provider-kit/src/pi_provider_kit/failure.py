"""Failures of requests and their one-line messages: the API's own text first, then what happened to the connection.

The texts that clients and the retry rules match come first and unchanged: the status and the body, ``Connection
error.`` where there was no response, ``terminated`` where one broke off. No message contains a key.
"""

from __future__ import annotations

import re
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pi_hookspecs.errors import RequestFailed
from pi_hookspecs.secrets import is_secret_name
from pi_provider_kit.retry_after import retry_after_ms

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pi_provider_kit.request import Timeouts

__all__ = ["HttpFailed", "answer_failure", "redact", "secrets_of", "transport_failure"]

_BODY_LIMIT = 4000
"""Characters of a body in a message."""

_JSON_LIMIT = 65_536
"""The same for JSON, which programs parse, so it must not be cut. A longer one repeats the request."""

_PAGE_LIMIT = 160

PAGE_NOTE = "(an HTML page, not an API response)"
"""Appended to the text of an HTML page, by which ``explain`` recognises it."""

_PAGE_READ = 8192
"""Characters of a page that are searched; the patterns below are slow on a long, malicious page."""

_REQUEST_IDS = ("request-id", "x-request-id", "x-amzn-requestid", "apim-request-id", "x-goog-request-id", "cf-ray")

_SHORTEST_SECRET = 6
"""A shorter value (a word such as ``none`` used in place of a key) would blank out ordinary text."""


class HttpFailed(RequestFailed):
    """A failed request and its kind, which ``explain`` uses. Codecs raise it for errors in the answer, too.

    Attributes:
        kind: ``status`` (an HTTP error), ``redirect``, ``unexpected`` (another content type), ``url``, ``dns``,
            ``refused``, ``tls``, ``certificates`` (a variable names wrong ones), ``proxy``, ``connect``,
            ``timeout`` (no answer began), ``dropped``, ``stalled`` (an answer broke off), ``stuck`` (it went on
            without new content), ``oversized`` (it was too long), ``encoding`` (a compression that cannot be read),
            ``incomplete`` (it ended without the API's final event), ``event`` (the API reported an error during the
            answer), ``filtered`` (the model or a filter refused).
        body: The answer's text, shortened; empty if there was none.
        advice: What the user can do, where the failure itself knows best; see ``explain``.
    """

    def __init__(self, message: str, *, kind: str, body: str = "", **known: Any) -> None:
        super().__init__(message, **known)
        self.kind = kind
        self.body = body
        self.advice = ""


def answer_failure(
    status: int,
    headers: Mapping[str, str],
    content: bytes,
    *,
    error_text: str = "{status} {body}",
    expected: str = "text/event-stream",
    secrets: Iterable[str] = (),
) -> HttpFailed:
    """Return the failure that a response reports.

    Args:
        status: HTTP status.
        headers: Names in lower case.
        content: The body, or its beginning.
        error_text: Template of the message, with ``{status}`` and ``{body}``. Without a body the message is
            always ``<status> status code (no body)``.
        expected: Requested content type; for a successful response of another type.
        secrets: Values to redact from the message.
    """
    raw = redact(content.decode("utf-8", "replace"), secrets)  # before it is cut, which might split one
    body = redact(readable_body(raw), secrets)
    known: dict[str, Any] = {
        "status": status,
        "request_id": next((headers[name] for name in _REQUEST_IDS if name in headers), None),
        "retry_after_ms": retry_after_ms(headers, raw, status, time.time()),
        "body": body,
    }
    if 300 <= status < 400:  # noqa: PLR2004 - RFC 9110, 15.4
        target = redact(without_secrets(headers.get("location", "")), secrets)
        message = f"{status} The server redirects to {target!r}, and redirects are not followed with a key"
        return HttpFailed(message, kind="redirect", **known)
    if 200 <= status < 300:  # noqa: PLR2004 - RFC 9110, 15.3
        got = headers.get("content-type", "untyped content").partition(";")[0]
        from pi_provider_kit.reported import is_filter, reported_status

        error = _error_in(raw)
        if got == expected or error is not None:  # an error with a success status
            known["status"] = reported_status(error) or status
            kind = "filtered" if is_filter(error) else "event"
            return HttpFailed(f"{status} The server sent no events: {body or 'no body'}", kind=kind, **known)
        message = f"{status} The server sent {got} where {expected} was asked for: {body or 'no body'}"
        return HttpFailed(message, kind="unexpected", **known)
    text = error_text.format(status=status, body=body) if body else f"{status} status code (no body)"
    return HttpFailed(text, kind="status", **known)


def _error_in(text: str) -> Any:
    """Return the error that a body reports, also the first of a list; None if it reports none."""
    import json

    from pi_provider_kit.reported import reported_error

    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return reported_error(value[0] if isinstance(value, list) and value else value)


def readable_body(text: str) -> str:
    """Return the body on one line: JSON compact, an HTML page as its title, all of it cut to a readable length."""
    text, limit = text.strip(), _BODY_LIMIT
    if text[:1] == "<" or text[:200].lower().find("<html") >= 0:
        return _page(text)
    if text[:1] in ("{", "["):
        import json

        with suppress(ValueError, RecursionError):
            text = json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":"))
            limit = _JSON_LIMIT
    text = " ".join(text.split()) if "\n" in text else text
    if len(text) > limit:
        return f"{text[:_BODY_LIMIT]}... ({len(text) - _BODY_LIMIT} more characters)"
    return text


def redact(text: str, secrets: Iterable[str]) -> str:
    """Return the text with every secret in it replaced."""
    for secret in secrets:
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, "[secret]")
    return text


def secrets_of(headers: Mapping[str, str], *more: str | None) -> list[str]:
    """Return the values to redact: ``more``, and the values of headers that carry secrets."""
    found = {value for value in more if value}
    for name, value in headers.items():
        if is_secret_name(name):
            found.update((value.strip(), value.strip().rpartition(" ")[2]))
    return sorted(found, key=len, reverse=True)


def transport_failure(error: Exception, url: str, timeouts: Timeouts, *, status: int | None = None) -> HttpFailed:
    """Return the failure for an exception of an HTTP client.

    Args:
        error: An exception of httpx, or of httpx2, on which the vendors' clients are built; matched by class name. A
            ``TimeoutError`` is that of ``AbortWatch``: the answer did not begin in time, or made no progress.
        url: URL of the request.
        timeouts: The timeouts of the request.
        status: Status of the response that broke off; None if none had begun.
    """
    if status is None:
        return _unanswered(error, url, timeouts.first_byte)
    if isinstance(error, TimeoutError) and timeouts.progress is not None:
        return stuck_failure(timeouts.progress)
    return _begun(error, status, timeouts.idle)


def stuck_failure(seconds: float) -> HttpFailed:
    """Return the failure of an answer that made no progress for so long, although bytes arrived."""
    message = f"terminated: the answer made no progress for {seconds:g} s, only pings or incomplete events"
    return HttpFailed(message, kind="stuck")


def compressed_failure(encoding: str, status: int) -> HttpFailed:
    """Return the failure of an answer in a compression that cannot be read, although none was asked for."""
    message = f"{status} The server compressed its answer as {encoding!r}, although it was asked not to"
    failure = HttpFailed(message, kind="encoding", status=status)
    failure.advice = "Turn compression off in what is between pi and the API, or choose another model."
    return failure


def oversized_failure(limit: int) -> HttpFailed:
    """Return the failure of an answer that is longer than ``limit`` bytes or characters."""
    size = f"{limit / 1_048_576:g} MB" if limit >= 1_048_576 else f"{limit} bytes"  # noqa: PLR2004 - a megabyte
    return HttpFailed(f"The answer was cut off because it is larger than {size}", kind="oversized")


def _unanswered(error: Exception, url: str, first_byte: float | None) -> HttpFailed:
    where = _place(url)
    if _is(error, "UnsupportedProtocol", "InvalidURL", "UnicodeError"):
        reason = f": {error}" if "@" not in url else ""  # the parser may take a password for a port, and print it
        return HttpFailed(f"The base URL {without_secrets(url)!r} cannot be used{reason}", kind="url")
    if _is(error, "LocalProtocolError"):
        return HttpFailed(f"The request to {where} cannot be sent: {error}", kind="url")
    if _is(error, "ReadTimeout", "TimeoutError"):
        detail, kind = f"{where} accepted the request but did not answer {_after_seconds(first_byte)}", "timeout"
    elif _is(error, "ProxyError"):
        detail, kind = f"{where} cannot be reached: {error}", "proxy"
    else:
        detail, kind = _connecting(error, where)
    if not detail.startswith(where):  # host names are written as they are
        detail = f"{detail[:1].upper()}{detail[1:]}"
    return HttpFailed(f"Connection error. {detail}", kind=kind)


def _begun(error: Exception, status: int, idle: float | None) -> HttpFailed:
    if _is(error, "ReadTimeout"):
        message = f"terminated: the answer stalled, nothing was received {_after_seconds(idle)}"
        return HttpFailed(message, kind="stalled", status=status)
    if _is(error, "DecodingError"):
        return HttpFailed(f"terminated: the answer cannot be decompressed ({error})", kind="dropped", status=status)
    reason = f" ({error})" if str(error) else ""
    return HttpFailed(
        f"terminated: the connection was closed before the answer was complete{reason}", kind="dropped", status=status
    )


def _is(error: Exception, *names: str) -> bool:
    return any(kind.__name__ in names for kind in type(error).__mro__)


def _connecting(error: Exception, where: str) -> tuple[str, str]:
    import errno
    import socket
    import ssl

    host = where.rpartition(":")[0] or where
    for cause in _causes(error):
        if isinstance(cause, socket.gaierror):
            return f"the name {host!r} cannot be resolved ({cause.strerror})", "dns"
        if isinstance(cause, ssl.SSLCertVerificationError):
            from pi_provider_kit.certificates import extra_problem

            problem = extra_problem()
            more = f"; {problem}" if problem else ""
            return f"the certificate of {where} is not trusted ({cause.verify_message}){more}", "tls"
        if isinstance(cause, ssl.SSLError):
            return f"no TLS connection to {where} ({cause.reason or cause})", "tls"
        if isinstance(cause, ConnectionRefusedError) or f"[Errno {errno.ECONNREFUSED}]" in str(cause):
            return f"nothing answers at {where} (connection refused)", "refused"
    if _is(error, "ConnectError", "ConnectTimeout"):
        return f"no connection to {where} ({str(error) or 'not in time'})", "connect"
    return f"{where} did not answer the request ({str(error) or type(error).__name__})", "dropped"


def _after_seconds(seconds: float | None) -> str:
    return "in time" if seconds is None else f"for {seconds:g} s"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _place(url: str) -> str:
    """Return ``host:port``, or the text in its place."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        return "the server"
    return f"{parts.hostname}:{port}" if parts.hostname else "the server"


def without_secrets(url: str) -> str:
    """Return the URL without user, password and query."""
    from urllib.parse import urlsplit, urlunsplit

    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "?" if "@" in url else url.partition("?")[0]
    return urlunsplit((parts.scheme, f"{parts.hostname or ''}{port}", parts.path, "", ""))


def _page(text: str) -> str:
    """Return the title of an HTML page, or its first words."""
    import html

    text = text[:_PAGE_READ]
    found = re.search(r"<(title|h1)\b[^>]*>(.*?)</\1", text, re.IGNORECASE | re.DOTALL)
    words = found[2] if found else re.sub(r"<(script|style)\b.*?</\1\s*>", " ", text, flags=re.IGNORECASE | re.DOTALL)
    words = " ".join(html.unescape(re.sub(r"<[^>]*>", " ", words)).split())
    if len(words) > _PAGE_LIMIT:
        words = f"{words[:_PAGE_LIMIT]}..."
    return f"{words} {PAGE_NOTE}".lstrip()
