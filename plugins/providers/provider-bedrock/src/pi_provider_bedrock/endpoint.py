"""Endpoint and signing region of a request: ARNs, variables, profiles, cross-region prefixes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from attrs import frozen

from pi_provider_bedrock.failures import AwsFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["GEOGRAPHIES", "Endpoint", "endpoint_of", "geography_of"]

GEOGRAPHIES: dict[str, tuple[tuple[str, ...], str]] = {
    "us": (("us-east-", "us-west-", "ca-"), "us-east-1"),
    "us-gov": (("us-gov-",), "us-gov-west-1"),
    "eu": (("eu-",), "eu-central-1"),
    "apac": (("ap-",), "ap-southeast-1"),
    "jp": (("ap-northeast-",), "ap-northeast-1"),
    "au": (("ap-southeast-",), "ap-southeast-2"),
    "ca": (("ca-",), "ca-central-1"),
}
"""Prefix of a cross-region inference profile: prefix of the regions that it can be called from, and one of them.

``global.`` can be called from any region.
"""

_ARN = re.compile(r"arn:aws[a-z-]*:bedrock:([a-z0-9-]+):")

_STANDARD = re.compile(r"https://bedrock-runtime(-fips)?\.([a-z0-9-]+)\.(?:amazonaws\.com(?:\.cn)?|api\.aws)/?")
"""Amazon's own address; a placeholder of the catalogue, which any setting of the user overrides."""

_REGIONAL = re.compile(r"bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\.")
"""A region in another address, such as that of a VPC endpoint."""

_REGION = re.compile(r"[a-z0-9-]+")
"""Valid part of a host name."""

_ADDRESS = re.compile(r"https?://[^\s/?#]+", re.IGNORECASE)
"""Start of a URL."""

_ADDRESS_VARIABLES = ("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "AWS_ENDPOINT_URL")
_REGION_VARIABLES = ("AWS_REGION", "AWS_DEFAULT_REGION")

_ADDRESS_WANTED = (
    f"Set {_ADDRESS_VARIABLES[0]}, or baseUrl in models.json, to one such as https://bedrock.example.com, or unset it."
)

_NO_REGION = (
    "Bedrock needs a region for model {model!r}, and none is set. Set AWS_REGION, for example AWS_REGION=us-east-1, or "
    "run `aws configure set region us-east-1{profile}`."
)


@frozen(kw_only=True)
class Endpoint:
    """An address.

    Attributes:
        base_url: The base URL.
        region: Signs the request; None if only the address is known, which a bearer token suffices for.
    """

    base_url: str
    region: str | None

    def url(self, model_id: str) -> str:
        """Return the URL for a model."""
        return f"{self.base_url.rstrip('/')}/model/{quote(model_id, safe='')}/converse-stream"


def endpoint_of(
    model_id: str, base_url: str, environ: Mapping[str, str], profile_region: Callable[[], str | None]
) -> Endpoint:
    """Return the address of a model.

    The address is that of models.json, of ``AWS_ENDPOINT_URL_BEDROCK_RUNTIME`` or ``AWS_ENDPOINT_URL``, or Amazon's in
    the region. The region is that of the ARN, of ``AWS_REGION`` or ``AWS_DEFAULT_REGION``, of the profile, of the
    address; the last is ignored where the id's prefix contradicts it.

    Args:
        model_id: Id of a model or inference profile, or an ARN.
        base_url: Of the model.
        environ: The environment.
        profile_region: Returns the profile's region; called only if needed, because it may read files.

    Raises:
        AwsFailed: Amazon's address needs a region, and there is none; or the region or the address is invalid.
    """
    standard = _STANDARD.fullmatch(base_url)
    named = next((environ[name] for name in _ADDRESS_VARIABLES if environ.get(name)), "")
    address = named if standard or not base_url else base_url
    arn = _ARN.match(model_id)
    variable = next((environ[name] for name in _REGION_VARIABLES if environ.get(name)), None)
    match = _REGIONAL.search(address or base_url)
    region = (
        (arn[1] if arn else None) or variable or profile_region() or _fitting(match[1] if match else None, model_id)
    )
    if region is not None and not _REGION.fullmatch(region):
        raise AwsFailed(f"{region!r} is not an AWS region", advice="Set AWS_REGION to one, for example us-east-1.")
    if address:
        if not _ADDRESS.match(address):
            raise AwsFailed(f"{address!r} is not a URL", advice=_ADDRESS_WANTED)
        return Endpoint(base_url=address, region=region)
    if region is None:
        profile = environ.get("AWS_PROFILE")
        option = f" --profile {profile}" if profile else ""
        raise AwsFailed(_NO_REGION.format(model=model_id, profile=option), advice="")
    kind = (standard[1] or "") if standard else ""
    suffix = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    return Endpoint(base_url=f"https://bedrock-runtime{kind}.{region}.{suffix}", region=region)


def geography_of(model_id: str) -> str | None:
    """Return the prefix of a cross-region inference profile, None if the id has none."""
    prefix = model_id.partition(".")[0]
    return prefix if prefix in GEOGRAPHIES or prefix == "global" else None


def _fitting(region: str | None, model_id: str) -> str | None:
    geography = GEOGRAPHIES.get(geography_of(model_id) or "")
    if geography is None or (region or "").startswith(geography[0]):
        return region
    return geography[1]
