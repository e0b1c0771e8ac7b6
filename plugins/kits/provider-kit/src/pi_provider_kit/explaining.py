"""Advice on a failed request for the user, in one sentence.

The sentence follows the API's own message, on a line of its own. What the message means is decided by the table of
``pi_hookspecs.failures``; the advice must not contain any of its patterns, because not every reader separates the
lines.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pi_hookspecs.errors import RequestFailed
    from pi_hookspecs.models import Model

__all__ = ["explain", "explained"]

_BY_KIND = {
    "redirect": "Set the base URL of provider {provider!r} to the address that answers.",
    "unexpected": "Check the base URL of provider {provider!r}: {base_url!r}.",
    "dns": "Check the base URL of provider {provider!r} and the network.",
    "refused": "Start the server, or check the base URL of provider {provider!r}.",
    "tls": "Check the base URL of provider {provider!r}; NODE_EXTRA_CA_CERTS names further certificates to trust.",
    "certificates": "Correct the variable, or unset it to trust the certificates that come with pi.",
    "proxy": "Check HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY.",
    "url": "Check the base URL and the key of provider {provider!r}.",
    "connect": "Check the network and the base URL of provider {provider!r}.",
    "timeout": "The setting httpIdleTimeoutMs sets how long to wait.",
    "stalled": "The setting httpIdleTimeoutMs sets how long to wait.",
    "stuck": "The setting httpProgressTimeoutMs sets how long to wait.",
    "oversized": "Check what answers at {base_url!r}, or choose another model.",
    "dropped": "Send the prompt again; if that does not help, check what is between pi and {base_url!r}.",
    "filtered": "Rephrase the request, or choose another model.",
    "incomplete": "The answer is not complete: send the prompt again, or choose another model.",
}

_BY_STATUS = {
    401: "The key for provider {provider!r} was not accepted: check it, or log in again.",
    402: "The account at provider {provider!r} has to be topped up; or choose another model.",
    403: "The key for provider {provider!r} may not use model {model!r}: choose another with /model, or another key.",
    404: "Provider {provider!r} has no model {model!r} at {base_url!r}: check both; --list-models shows the known "
    "models.",
    407: "The proxy wants a user and a password: set HTTP_PROXY and HTTPS_PROXY to http://USER:PASSWORD@HOST:PORT.",
    408: "Try again.",
    413: "Compact the conversation, or send fewer or smaller images.",
    429: "{wait}, or choose another model.",
}

_REFUSED = "Provider {provider!r} rejected the request: correct what the message names, or choose another model."

_LESS = "Send fewer or smaller images or files, or choose another model."

_NO_PATH = "Provider {provider!r} has no model {model!r} at {base_url!r}: servers of this API are often at .../v1."
"""For a base URL without a path."""

_TROUBLE = "The provider has problems: {wait_lower}, or choose another model."

_VERSIONED = ("openai-completions", "openai-responses")

_AGAIN = "Send the prompt again, or choose another model."

_PAGE = "Check the base URL of provider {provider!r}, {base_url!r}, and what is between pi and it."
"""For an HTML page in place of the API's error: from a wrong address or a firewall."""

_BY_MEANING = {
    "auth": _BY_STATUS[401],
    "configuration": "The server was not started for this: change what the message names, or the model.",
    "filtered": _BY_KIND["filtered"],
    "model": _BY_STATUS[404],
    "overflow": "Compact the conversation, or choose a model with a larger context window.",
    "overload": _TROUBLE,
    "quota": _BY_STATUS[402],
    "strict_tools": "Offer fewer or simpler tools, or set supportsStrictTools in the compat of {model!r} to false.",
    "throttle": _BY_STATUS[429],
    "transient": _TROUBLE,
}
"""By the kind of ``pi_hookspecs.failures``, for hosts that send 200, 400 or 429 for everything."""

_OWN_ADVICE = (403, 404, 407, 408, 413)
"""Statuses whose advice is better than that of the kind."""

_MEDIA = r"(?i)\b(?:images?|pictures?|documents?|pdfs?|audio|videos?)\b"


def explain(failure: RequestFailed, model: Model, longest_wait_ms: int | None = None) -> str:
    """Return advice on the failure; "" where its message is enough (an error of ours, without a status).

    An attribute ``advice`` of the failure takes precedence over its status.

    Args:
        failure: The failure.
        model: The model of the request.
        longest_wait_ms: Longest retry delay that pi accepts from the server (``StreamOptions.max_retry_delay_ms``);
            None or 0 is no limit.
    """
    own: str = getattr(failure, "advice", "")
    if own:
        return own
    from pi_provider_kit.failure import without_secrets

    template = _template(failure, model)
    wait = _wait(failure.retry_after_ms, longest_wait_ms)
    return template.format(
        provider=model.provider,
        model=model.id,
        base_url=without_secrets(model.base_url),
        wait=wait,
        wait_lower=wait[0].lower() + wait[1:],
    )


def _template(failure: RequestFailed, model: Model) -> str:
    kind, status = getattr(failure, "kind", "status"), failure.status or 0
    if kind in _BY_KIND:
        return _BY_KIND[kind]
    if status in (401, 403, 404, 405) and _is_page(failure):
        return _PAGE
    if status == 404 and model.api in _VERSIONED and _is_bare(model.base_url):  # noqa: PLR2004 - RFC 9110, 15.5.5
        return _NO_PATH
    if status >= 400 or status == 200 or kind == "event":  # noqa: PLR2004 - RFC 9110; the words are those of a server
        return _by_meaning(failure, model) or (_AGAIN if kind == "event" else "")
    return ""


def _by_meaning(failure: RequestFailed, model: Model) -> str:
    status, meant = failure.status or 0, _meaning(failure, model)
    is_paid = meant == "quota" and failure.retry_after_ms is not None  # the server says when to come back
    if status in _BY_STATUS and (is_paid or (status in _OWN_ADVICE and meant not in ("quota", "filtered"))):
        return _BY_STATUS[status]
    if meant in _BY_MEANING:
        return _BY_MEANING[meant]
    if status < 400:  # noqa: PLR2004 - RFC 9110, 15.5 and 15.6
        return ""
    return _LESS if re.search(_MEDIA, str(failure)) else _REFUSED


def _meaning(failure: RequestFailed, model: Model) -> str:
    """Return the kind of failure, by the words of the server."""
    from pi_hookspecs.failures import kind_of_failure
    from pi_provider_kit.hosts import host_of

    hinted = failure.retry_after_ms is not None
    return kind_of_failure(str(failure), failure.status, (model.provider, host_of(model.base_url)), hinted=hinted)


def _is_bare(base_url: str) -> bool:
    """Whether an address is that of a host, without a path."""
    from urllib.parse import urlsplit

    try:
        return urlsplit(base_url).path in ("", "/")
    except ValueError:
        return False


def _is_page(failure: RequestFailed) -> bool:
    from pi_provider_kit.failure import PAGE_NOTE

    return getattr(failure, "body", "").endswith(PAGE_NOTE)


def explained(failure: RequestFailed, model: Model, longest_wait_ms: int | None = None) -> str:
    """Return the failure's own text on one line, which programs parse, and the advice of ``explain`` on the next."""
    text = " ".join(str(failure).splitlines())
    advice = explain(failure, model, longest_wait_ms)
    return f"{text}\n{advice}" if advice else text


def _wait(retry_after_ms: int | None, longest_ms: int | None) -> str:
    if not retry_after_ms:
        return "Wait a moment"
    seconds = -(-retry_after_ms // 1000)
    if longest_ms and retry_after_ms > longest_ms:  # pi does not wait so long automatically
        return f"Wait {seconds} s, which is longer than pi waits by itself (retry.provider.maxRetryDelayMs)"
    return f"Wait {seconds} s"
