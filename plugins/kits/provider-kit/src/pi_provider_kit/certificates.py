"""The certificates that requests trust: ``SSL_CERT_FILE``, ``SSL_CERT_DIR`` or certifi's, plus Node's extra ones."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ssl

    from pi_provider_kit.failure import HttpFailed

__all__ = ["EXTRA", "extra_problem", "trusting_context", "variables"]

EXTRA = "NODE_EXTRA_CA_CERTS"
"""Names a file of certificates that are trusted, too. As in Node.js, one that cannot be read is no error by itself."""

_NO_CERTIFICATE = "no_certificate_or_crl"
"""Part of OpenSSL's reason, which it writes in capitals."""


def variables() -> tuple[str | None, ...]:
    """Return the values of the variables, on which a context depends."""
    return tuple(os.environ.get(name) for name in ("SSL_CERT_FILE", "SSL_CERT_DIR", EXTRA))


def trusting_context() -> ssl.SSLContext:
    """Return a new context; reading the certificates takes some 30 ms.

    Raises:
        HttpFailed: ``SSL_CERT_FILE`` or ``SSL_CERT_DIR`` is wrong; the message names the variable and its value.
    """
    import ssl

    import certifi

    file, folder, extra = variables()
    if file:
        context = _loaded("SSL_CERT_FILE", file)
    elif folder:
        if not os.path.isdir(folder):  # noqa: PTH112 - OpenSSL would trust nothing, without a word
            raise _wrong("SSL_CERT_DIR", folder, "it is not a folder")
        context = ssl.create_default_context(capath=folder)
    else:
        context = ssl.create_default_context(cafile=certifi.where())
    if extra:
        problem = extra_problem(context)
        if problem:
            import logging

            logging.getLogger("pi.providers").warning("%s", problem)
    return context


def extra_problem(context: ssl.SSLContext | None = None) -> str:
    """Load the certificates of ``NODE_EXTRA_CA_CERTS`` into a context; return what is wrong with the file, or ""."""
    import ssl

    extra = os.environ.get(EXTRA)
    if not extra:
        return ""
    try:
        (context or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)).load_verify_locations(cafile=extra)
    except OSError as error:
        return f"{EXTRA} names {extra!r}, which cannot be used: {_reason(error)}"
    return ""


def _loaded(variable: str, file: str) -> ssl.SSLContext:
    import ssl

    try:
        return ssl.create_default_context(cafile=file)
    except OSError as error:  # also of ssl
        raise _wrong(variable, file, _reason(error)) from error


def _wrong(variable: str, value: str, reason: str) -> HttpFailed:
    from pi_provider_kit.failure import HttpFailed

    return HttpFailed(f"The variable {variable} names {value!r}, which cannot be used: {reason}", kind="certificates")


def _reason(error: OSError) -> str:
    if _NO_CERTIFICATE in str(error).lower():
        return "it has no certificate in PEM format"
    return (error.strerror or str(error))[:1].lower() + (error.strerror or str(error))[1:]
