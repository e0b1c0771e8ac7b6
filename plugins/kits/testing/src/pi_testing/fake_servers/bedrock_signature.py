"""AWS's signature version 4, as a server checks it, independent of any client's code."""

from __future__ import annotations

import hashlib
import hmac
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from pi_testing.fake_servers.server import Request

__all__ = ["signature_violation"]

_FORM = re.compile(r"AWS4-HMAC-SHA256 Credential=[^/]+/(\S+), SignedHeaders=(\S+), Signature=([0-9a-f]{64})")

_SKEW = 300
"""Seconds that the client's clock may be off."""

_MISMATCH = (
    "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key "
    "and signing method. Consult the service documentation for details."
)


def signature_violation(request: Request, secret: str) -> str | None:
    """Return AWS's error about a signature, None if it is valid."""
    form = _FORM.fullmatch(request.headers["authorization"])
    if form is None:
        return "Authorization header is malformed."
    scope, signed, signature = form.groups()
    stamp = request.headers.get("x-amz-date", "")
    when = datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    now = datetime.now(UTC)
    if abs((now - when).total_seconds()) > _SKEW:
        return f"Signature expired: {stamp} is now earlier than {now:%Y%m%dT%H%M%SZ} (5 min.)"
    missing = {"host", "x-amz-date", *(name for name in request.headers if name.startswith("x-amz-"))} - {
        *signed.split(";")
    }
    if missing:
        return f"{', '.join(sorted(missing))} must be signed."
    key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        key = _hmac(key, part)
    text = "\n".join(("AWS4-HMAC-SHA256", stamp, scope, _sha256(_canonical(request, signed).encode())))
    return None if _hmac(key, text).hex() == signature else _MISMATCH


def _canonical(request: Request, signed: str) -> str:
    headers = [f"{name}:{' '.join(request.headers[name].split())}" for name in signed.split(";")]
    path = quote(request.path, safe="/~")  # a second time, as AWS wants it of all but S3
    return "\n".join((request.method, path, request.query, *headers, "", signed, _sha256(request.body)))


def _hmac(key: bytes, text: str) -> bytes:
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
