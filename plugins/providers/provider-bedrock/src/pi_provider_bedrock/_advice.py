"""Which command or variable mends what AWS refused.

The advice stands behind the API's words and repeats none of the patterns by which retries and overflow are told.
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
"""Seconds between two clocks that are worth telling."""


@define
class Circumstances:
    """What a request was made with and how its answer began: what advice needs.

    Attributes:
        profile: Name of the AWS profile; None where a bearer token was sent.
        region: Where the request went.
        headers: Of the answer, names in lower case.
        secrets: What the request was made with; none of it may be told.
    """

    model: Model
    profile: str | None = None
    region: str | None = None
    headers: Mapping[str, str] = field(default=Factory(dict), repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def hearing(
        self, on_response: Callable[[int, dict[str, str]], Awaitable[None]] | None
    ) -> Callable[[int, dict[str, str]], Awaitable[None]]:
        """Return a hook that keeps the answer's headers and then calls ``on_response``."""

        async def hear(status: int, headers: dict[str, str]) -> None:
            self.headers = headers
            if on_response is not None:
                await on_response(status, headers)

        return hear


def login_advice(profile: str | None) -> str:
    """Return the command that signs in again."""
    return "`aws sso login`" if profile in (None, "default") else f"`aws sso login --profile {profile}`"


def advice_for(text: str, status: int, circumstances: Circumstances) -> str:
    """Return what to do; "" where the kit knows as much by the status."""
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
        "and AWS_SESSION_TOKEN anew."
    )


def _signature(text: str, circumstances: Circumstances) -> str:
    off = _clock_offset(circumstances.headers.get("date", ""))
    if off is not None and abs(off) >= _OFFSET:
        direction = "behind" if off > 0 else "ahead"
        return f"The clock of this machine is {abs(off)} s {direction} of AWS's: set it, signatures depend on it."
    if "expired" in text or "not yet current" in text:
        return "Set the clock of this machine: signatures depend on it."
    return "Check AWS_SECRET_ACCESS_KEY, or the profile that AWS_PROFILE names: the secret does not fit the key's id."


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
    from pi_provider_bedrock._endpoint import GEOGRAPHIES

    model, region = circumstances.model, circumstances.region or ""
    fitting = (name for name, (beginnings, _) in GEOGRAPHIES.items() if region.startswith(beginnings))
    profile = f"{next(fitting, 'global')}.{model.id}"
    return (
        f"Use an inference profile, for example --model {model.provider}/{profile}; "
        "`aws bedrock list-inference-profiles` shows all."
    )


def _unknown_model(_: str, circumstances: Circumstances) -> str:
    from pi_provider_bedrock._endpoint import GEOGRAPHIES, geography_of

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
"""The first pattern that AWS's words have."""


def _clock_offset(date: str) -> int | None:
    """Return by how many seconds the server's clock is ahead of ours."""
    import time
    from email.utils import parsedate_to_datetime

    try:
        return round(parsedate_to_datetime(date).timestamp() - time.time())
    except (TypeError, ValueError):
        return None
