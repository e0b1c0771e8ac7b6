"""Reports to core whether there are AWS credentials; the provider gets them itself to sign."""

from __future__ import annotations

import os

__all__ = ["AUTHENTICATED", "AwsCredentials"]

AUTHENTICATED = "<authenticated>"
"""Placeholder for a key where the request is signed with credentials."""

_VENDOR = "/sys/class/dmi/id/sys_vendor"
"""File that contains ``Amazon EC2`` on a machine whose instance may have a role."""


class AwsCredentials:
    """Credential source of provider ``amazon-bedrock``, where the user has no bearer token."""

    name = "amazon-bedrock"

    def available(self, provider: str) -> bool | None:
        """Return whether variables or files lead to usable credentials; None if only a request can show it."""
        if provider != self.name or not _can_sign():
            return False
        from pi_provider_bedrock.failures import AwsFailed
        from pi_provider_bedrock.profiles import has_credentials

        try:
            return has_credentials(os.environ) or None
        except AwsFailed:
            return None

    async def credential(self, provider: str) -> str | None:
        """Return the placeholder for credentials.

        Raises:
            MissingKey: There are none, and this machine cannot have a role; a file cannot be read; or
                botocore is not installed, which signs with them.
        """
        if provider != self.name:
            return None
        from pi_hookspecs.errors import MissingKey
        from pi_provider_bedrock.failures import NO_BOTOCORE, NO_CREDENTIALS, AwsFailed
        from pi_provider_bedrock.profiles import has_credentials

        try:
            if has_credentials(os.environ) or _has_role():
                if not _can_sign():
                    reason = f"No API key found for {provider}, and AWS credentials cannot be used"
                    raise MissingKey(f"{reason}. {NO_BOTOCORE}")
                return AUTHENTICATED
        except AwsFailed as error:
            raise MissingKey(f"No API key found for {provider}. {error}. {error.advice}") from error
        raise MissingKey(f"No API key found for {provider}. {NO_CREDENTIALS}")


def _can_sign() -> bool:
    """Whether botocore is installed; it is not imported."""
    from importlib.util import find_spec

    return find_spec("botocore") is not None


def _has_role() -> bool:
    """Whether this is a machine of EC2, which may have a role; detected by a file, without a request."""
    from pathlib import Path

    if os.environ.get("AWS_EC2_METADATA_DISABLED", "").lower() == "true":
        return False
    try:
        return Path(_VENDOR).read_text(encoding="utf-8").startswith("Amazon EC2")
    except (OSError, ValueError):
        return False
