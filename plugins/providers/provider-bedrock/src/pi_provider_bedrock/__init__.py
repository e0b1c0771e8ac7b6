"""Implements the API id ``bedrock-converse-stream``: every model that Amazon Bedrock's Converse API serves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import CredentialSource, Provider

__all__ = ["register_credentials", "register_providers"]


@hookimpl
def register_providers() -> Sequence[Provider]:
    """Implement the API id ``bedrock-converse-stream``."""
    from pi_provider_bedrock.provider import BedrockConverse

    return [BedrockConverse()]


@hookimpl
def register_credentials() -> Sequence[CredentialSource]:
    """Report whether there are AWS credentials, where no bearer token is configured."""
    from pi_provider_bedrock.credential_source import AwsCredentials

    return [AwsCredentials()]
