"""AWS errors in pi's format: status, kind, and AWS's own message."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pi_provider_kit import HttpFailed, redact

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_provider_bedrock.advice import Circumstances

__all__ = ["NO_BOTOCORE", "NO_CREDENTIALS", "AwsFailed", "advised", "frame_failure"]

NO_CREDENTIALS = (
    "Set AWS_PROFILE to a profile of ~/.aws/config (`aws configure sso` or `aws configure` creates one), or "
    "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_BEARER_TOKEN_BEDROCK to an API key of Bedrock."
)

NO_BOTOCORE = (
    "They need botocore, which is not installed: pip install 'pluggypi[bedrock]', or "
    "'pluggypi-provider-bedrock[aws]' without the other default plugins. Or set AWS_BEARER_TOKEN_BEDROCK to an API key "
    "of Bedrock."
)

_STATUS_OF = {
    "accessDeniedException": 403,
    "internalServerException": 500,
    "modelErrorException": 424,
    "modelStreamErrorException": 424,
    "modelTimeoutException": 408,
    "resourceNotFoundException": 404,
    "serviceUnavailableException": 503,
    "throttlingException": 429,
    "validationException": 400,
}
"""HTTP status of an error that occurs within the stream."""


class AwsFailed(HttpFailed):
    """A failure with advice.

    Attributes:
        advice: Appended to the message; see ``explain`` of the kit.
    """

    def __init__(self, message: str, *, advice: str, kind: str = "aws", **known: Any) -> None:
        super().__init__(message, kind=kind, **known)
        self.advice = advice


def frame_failure(headers: Mapping[str, Any], payload: bytes) -> HttpFailed:
    """Return the failure of a frame of type ``exception`` or ``error``."""
    kind = str(headers.get(":exception-type") or headers.get(":error-code") or "unknown error")
    error_object = _object(payload)
    message = error_object.get("message") or error_object.get("Message") or headers.get(":error-message") or ""
    status = _STATUS_OF.get(kind[:1].lower() + kind[1:])
    original = error_object.get("originalStatusCode")
    if isinstance(original, int) and original >= 400:  # noqa: PLR2004 - RFC 9110, 15.5
        status = original  # the status of the model's own server
    return HttpFailed(_worded(status, kind[:1].upper() + kind[1:], str(message)), kind="event", status=status)


def advised(problem: Exception, circumstances: Circumstances) -> Exception:
    """Return an AWS error with a readable message and advice; any other exception unchanged."""
    from pi_provider_bedrock.advice import advice_for

    if not isinstance(problem, HttpFailed) or problem.kind not in ("status", "event"):
        return problem
    if problem.kind == "event":
        text = str(problem)
    else:
        error_object = _object(problem.body.encode())
        kind = circumstances.headers.get("x-amzn-errortype") or str(error_object.get("__type") or "")
        kind = kind.partition(":")[0].rpartition("#")[2]  # "ValidationException:http://..." and "com.amazon#Kind"
        message = error_object.get("message") or error_object.get("Message")
        text = _worded(problem.status, kind, str(message)) if message or kind else str(problem)
    text = redact(text, circumstances.secrets)
    return AwsFailed(
        text,
        advice=advice_for(text, problem.status or 0, circumstances),
        kind=problem.kind,
        status=problem.status,
        retry_after_ms=problem.retry_after_ms,
        request_id=problem.request_id or circumstances.headers.get("x-amzn-requestid"),
        body=problem.body,
    )


def _worded(status: int | None, kind: str, message: str) -> str:
    what = ": ".join(filter(None, (kind, message)))
    return f"{status} {what}" if status is not None else what


def _object(payload: bytes) -> dict[str, Any]:
    try:
        error_object = json.loads(payload)
    except (ValueError, RecursionError):
        return {}
    return error_object if isinstance(error_object, dict) else {}
