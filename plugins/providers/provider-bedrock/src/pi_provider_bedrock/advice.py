"""Advice on AWS errors: which command or variable fixes them.

The advice follows the API's message and contains none of the patterns by which retries and overflow are detected.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import Factory, define, field

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from pi_hookspecs.models import Model

__all__ = ["Circumstances", "advice_for", "login_advice"]

_OFFSET = 60
"""Clock difference in seconds above which it is reported."""


@define
class Circumstances:
    """Context of a request and its response headers, for advice.

    Attributes:
        profile: Name of the AWS profile; None if a bearer token was sent.
        region: Region of the request.
        headers: Response headers, names in lower case.
        secrets: Credentials of the request, to be redacted.
    """

    model: Model
    profile: str | None = None
    region: str | None = None
    headers: Mapping[str, str] = field(default=Factory(dict), repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def recording_headers(
        self, on_response: Callable[[int, dict[str, str]], Awaitable[None]] | None
    ) -> Callable[[int, dict[str, str]], Awaitable[None]]:
        """Return a callback that records the response headers and then calls ``on_response``."""

        async def on_headers(status: int, headers: dict[str, str]) -> None:
            self.headers = headers
            if on_response is not None:
                await on_response(status, headers)

        return on_headers


def login_advice(profile: str | None) -> str:
    """Return the command that signs in again."""
    return "`aws sso login`" if profile in (None, "default") else f"`aws sso login --profile {profile}`"


def advice_for(text: str, status: int, circumstances: Circumstances) -> str:
    """Return what to do; "" where the kit's advice by status is enough."""
    for pattern, advise in _ADVICE:
        if pattern.search(text):
            return advise(text, circumstances)
    if status in (401, 403):
        return _check(text, circumstances)
    return ""


def _expired(_: str, circumstances: Circumstances) -> str:
    if circumstances.profile is None:
        return "Set AWS_BEARER_TOKEN_BEDROCK to a new API key of Bedrock."
    return (
        f"Get new credentials: {login_advice(circumstances.profile)}, or set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY "
        "and AWS_SESSION_TOKEN again."
    )


def _signature(text: str, circumstances: Circumstances) -> str:
    off = _clock_offset(circumstances.headers.get("date", ""))
    if off is not None and abs(off) >= _OFFSET:
        direction = "behind" if off > 0 else "ahead"
        return f"The clock of this machine is {abs(off)} s {direction} of AWS's: correct it; signatures need it."
    if "expired" in text or "not yet current" in text:
        return "Correct the clock of this machine: signatures depend on it."
    return "Check AWS_SECRET_ACCESS_KEY, or the profile that AWS_PROFILE names: the secret does not match the key's id."


def _check(_: str, circumstances: Circumstances) -> str:
    if circumstances.profile is None:
        return "Check AWS_BEARER_TOKEN_BEDROCK, or the key that was given instead."
    if circumstances.profile == "default":
        return "Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or choose other credentials with AWS_PROFILE."
    return f"Check the credentials of profile {circumstances.profile!r}, or choose another with AWS_PROFILE."


def _access(_: str, circumstances: Circumstances) -> str:
    where = f" in region {circumstances.region}" if circumstances.region else ""
    return (
        f"Ask for access to model {circumstances.model.id!r}{where} in the Bedrock console, give the identity the "
        "permission bedrock:InvokeModelWithResponseStream, or choose another with AWS_PROFILE or --model."
    )


def _throughput(_: str, circumstances: Circumstances) -> str:
    from pi_provider_bedrock.endpoint import GEOGRAPHIES

    model, region = circumstances.model, circumstances.region or ""
    fitting = (name for name, (beginnings, _) in GEOGRAPHIES.items() if region.startswith(beginnings))
    profile = f"{next(fitting, 'global')}.{model.id}"
    return (
        f"Use an inference profile, for example --model {model.provider}/{profile}; "
        "`aws bedrock list-inference-profiles` shows all."
    )


def _unknown_model(_: str, circumstances: Circumstances) -> str:
    from pi_provider_bedrock.endpoint import GEOGRAPHIES, geography_of

    model, region = circumstances.model, circumstances.region
    geography = geography_of(model.id) or ""
    beginnings, home = GEOGRAPHIES.get(geography, ((), ""))
    if region and beginnings and not region.startswith(beginnings):
        return f"A model id that begins with '{geography}.' is not served in {region}: set AWS_REGION={home}."
    where = f" in region {region}" if region else ""
    return (
        f"Bedrock has no model {model.id!r}{where}: check the id (--list-models), or set AWS_REGION to a region that "
        "has it."
    )


_ADVICE: tuple[tuple[re.Pattern[str], Callable[[str, Circumstances], str]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), advise)
    for pattern, advise in (
        ("on-demand throughput", _throughput),
        ("model identifier is invalid|^404 |end of its life|legacy", _unknown_model),
        ("signature (?:expired|not yet current|does not match)|InvalidSignature|SignatureDoesNotMatch", _signature),
        ("RequestTimeTooSkewed|RequestExpired", _signature),
        (r"ExpiredToken|token\b.*\bexpired|expired\b.*\btoken", _expired),
        ("UnrecognizedClient|InvalidClientTokenId|security token|MissingAuthentication|IncompleteSignature", _check),
        ("AccessDenied|not authorized to perform|access to the model", _access),
    )
)
"""Patterns of AWS messages; the first match wins."""


def _clock_offset(date: str) -> int | None:
    """Return by how many seconds the server's clock is ahead of ours."""
    import time
    from email.utils import parsedate_to_datetime

    try:
        return round(parsedate_to_datetime(date).timestamp() - time.time())
    except (TypeError, ValueError):
        return None
