"""What the user can do about a failed request, in one sentence.

The sentence stands behind the API's own words and must not change what they mean to the retry rules (pi.md section 9)
and to overflow detection (4.8): it repeats none of their patterns.
"""

from __future__ import annotations

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
    "tls": "Check the base URL of provider {provider!r}; SSL_CERT_FILE names certificates to trust.",
    "proxy": "Check HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY.",
    "url": "Check the base URL and the key of provider {provider!r}.",
    "connect": "Check the network and the base URL of provider {provider!r}.",
    "timeout": "The setting httpIdleTimeoutMs says how long to wait.",
    "stalled": "The setting httpIdleTimeoutMs says how long to wait.",
}

_BY_STATUS = {
    401: "The key for provider {provider!r} was not accepted: check it, or log in again.",
    402: "The account at provider {provider!r} has to be topped up.",
    403: "The key for provider {provider!r} may not use model {model!r}: choose another with --model, or another key.",
    404: "Provider {provider!r} has no model {model!r} at {base_url!r}: check both, --list-models shows what is known.",
    408: "Try again.",
    413: "Compact the conversation, or send fewer or smaller images.",
    429: "{wait}, or choose another model with --model.",
}

_TROUBLE = "The provider has trouble: {wait_lower}, or choose another model with --model."


def explain(failure: RequestFailed, model: Model) -> str:
    """Return what to do about the failure, "" where only the API's words can tell."""
    status = failure.status or 0
    template = _BY_KIND.get(getattr(failure, "kind", ""), "")
    if not template and getattr(failure, "kind", "status") == "status":
        template = _BY_STATUS.get(status, _TROUBLE if status >= 500 else "")  # noqa: PLR2004 - RFC 9110, 15.6
    wait = _wait(failure.retry_after_ms)
    return template.format(
        provider=model.provider,
        model=model.id,
        base_url=model.base_url,
        wait=wait,
        wait_lower=wait[0].lower() + wait[1:],
    )


def explained(failure: RequestFailed, model: Model) -> str:
    """Return the failure's own text, unchanged, and behind it what to do."""
    advice = explain(failure, model)
    text = str(failure)
    if not advice:
        return text
    return f"{text} {advice}" if text.endswith((".", "!", "?", "}", "]")) else f"{text}. {advice}"


def _wait(retry_after_ms: int | None) -> str:
    if not retry_after_ms:
        return "Wait a moment"
    seconds = -(-retry_after_ms // 1000)
    return f"Wait {seconds} s"
