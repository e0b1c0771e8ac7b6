"""The file of a cassette: JSON that people can read and diff.

A body is what it holds: ``json``, ``text`` (``form`` for forms), or ``base64``; a stream is ``chunks``, one server-sent
event or line each.
"""

from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING, Any

from attrs import frozen

from pi_core import replace_file
from pi_hookspecs import UserError
from pi_testing.fake_servers import Answer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from pi_testing.cassettes.secret_values import Secrets
    from pi_testing.fake_servers import Request

__all__ = ["Exchange", "RecordedRequest", "exchange_of", "read", "request_of", "write"]

_VERSION = 1

_NOISE = frozenset(
    [
        "accept-encoding",
        "alt-svc",
        "connection",
        "content-encoding",
        "content-length",
        "date",
        "host",
        "keep-alive",
        "server",
        "transfer-encoding",
        "user-agent",
        "vary",
        "via",
    ]
)
"""Headers that describe the machine, the moment or the connection."""

_STREAMS = {"text/event-stream": rb"(?<=\n\n)|(?<=\r\n\r\n)", "application/x-ndjson": rb"(?<=\n)"}
"""What ends a chunk, by the type of a stream."""


@frozen
class RecordedRequest:
    """A request without its secrets; ``body`` is plain data, a text, or None if there is none."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: Any
    form: str


@frozen
class Exchange:
    """A request and its answer."""

    request: RecordedRequest
    answer: Answer


def request_of(request: Request, origin: str, secrets: Secrets) -> RecordedRequest:
    """Return the form of a request that is recorded and compared."""
    query = secrets.query(request.query)
    headers = secrets.headers(_without_noise(request.headers))
    form, body = _read_body(request.body, request.headers.get("content-type", ""), secrets)
    return RecordedRequest(request.method, f"{origin}{request.path}{'?' if query else ''}{query}", headers, body, form)


def exchange_of(request: RecordedRequest, answer: Answer, secrets: Secrets) -> Exchange:
    """Return the exchange to store: the request, and the answer without noise and secrets."""
    kind = answer.headers.get("content-type", "")
    pieces = re.split(_STREAMS.get(kind.partition(";")[0].strip(), rb"(?!)"), answer.body)
    kept = tuple(piece for each in pieces if each for piece in (_clean(each, kind, secrets),))
    headers = secrets.headers(_without_noise(answer.headers))
    return Exchange(request, Answer(status=answer.status, headers=headers, pieces=kept))


def read(file: Path, replace: Mapping[str, str]) -> list[Exchange]:
    """Return the exchanges of a cassette.

    Args:
        file: The cassette.
        replace: Placeholders in the file, and their texts in this run.

    Raises:
        UserError: It cannot be read, or is none.
    """
    try:
        text = file.read_text(encoding="utf-8")
        for kept, now in replace.items():
            text = text.replace(kept, json.dumps(now)[1:-1])
        data = json.loads(text)
        if data["version"] != _VERSION:
            raise UserError(f"{file} has version {data['version']!r}; this pluggypi-testing reads {_VERSION}")
        return [_exchange(each) for each in data["exchanges"]]
    except OSError as error:
        raise UserError(f"{file} cannot be read: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{file} is not a cassette: {type(error).__name__}: {error}. Record it again") from error


def write(file: Path, exchanges: Iterable[Exchange], secrets: Secrets, replace: Mapping[str, str]) -> None:
    """Write a cassette, whole or not at all; secrets that were met anywhere in it are nowhere in it."""
    data = {"version": _VERSION, "exchanges": [_plain(each) for each in exchanges]}
    text = secrets.forget(json.dumps(data, indent=1, ensure_ascii=False))
    for kept, now in replace.items():
        text = text.replace(json.dumps(now, ensure_ascii=False)[1:-1], kept)
    file.parent.mkdir(parents=True, exist_ok=True)
    replace_file(file, f"{text}\n".encode())


def _without_noise(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: headers[name] for name in sorted(headers) if name not in _NOISE}


def _read_body(body: bytes, kind: str, secrets: Secrets) -> tuple[str, Any]:
    """Return what kind of body it is, and the body without its secrets."""
    if not body:
        return "json", None
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return "base64", base64.b64encode(body).decode()
    try:
        return "json", secrets.json(json.loads(text))
    except ValueError:  # asked first: clients that do not say what they send are taken to send a form
        return ("form", secrets.form(text)) if "form-urlencoded" in kind else ("text", secrets.text(text))


def _clean(piece: bytes, kind: str, secrets: Secrets) -> bytes:
    form, body = _read_body(piece, kind, secrets)
    if form == "base64":
        return piece
    # What has no secret stays as it was sent, byte for byte.
    if form == "json" and body == json.loads(piece):
        return piece
    return json.dumps(body, ensure_ascii=False).encode() if form == "json" else str(body).encode()


def _plain(exchange: Exchange) -> dict[str, Any]:
    request, answer = exchange.request, exchange.answer
    return {
        "request": {
            "method": request.method,
            "url": request.url,
            "headers": dict(request.headers),
            request.form: request.body,
        },
        "answer": {"status": answer.status, "headers": dict(answer.headers), **_plain_body(answer)},
    }


def _plain_body(answer: Answer) -> dict[str, Any]:
    try:
        chunks = [piece.decode() for piece in answer.pieces if isinstance(piece, bytes)]
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(answer.body).decode()}
    if len(chunks) == 1 and "json" in answer.headers.get("content-type", ""):
        try:
            return {"json": json.loads(chunks[0])}
        except ValueError:
            pass
    return {"chunks": chunks}


def _exchange(data: dict[str, Any]) -> Exchange:
    asked, answer = data["request"], data["answer"]
    form = next(each for each in ("json", "form", "text", "base64") if each in asked)
    request = RecordedRequest(asked["method"], asked["url"], asked["headers"], asked[form], form)
    return Exchange(request, Answer(status=answer["status"], headers=answer["headers"], pieces=tuple(_pieces(answer))))


def _pieces(answer: dict[str, Any]) -> Sequence[bytes]:
    if "json" in answer:
        return [json.dumps(answer["json"], ensure_ascii=False).encode()]
    if "base64" in answer:
        return [base64.b64decode(answer["base64"])]
    return [chunk.encode() for chunk in answer["chunks"]]
