"""AWS's credentials through botocore's chain (profile, environment, SSO, container, web identity, instance), and SigV4.

botocore is imported in the thread that looks for credentials: it takes a tenth of a second, and finding credentials may
read files, run a command and use the network. Keys in the environment, which its chain takes first, need half of it.
"""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import Future
from importlib import import_module
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pi_provider_bedrock.failures import AwsFailed

    T = TypeVar("T")

__all__ = ["Chain", "in_thread", "signature"]

SECONDS = 30.0
"""Seconds for finding credentials; parts of the chain have their own timeouts, but a command has none."""

_POINTERS = (
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
)
"""Variables that name a source of credentials."""

_WORDS = 300
"""Characters of botocore's text in a message."""


@frozen
class Keys:
    """Credentials that do not change, as botocore's signer reads them."""

    access_key: str
    secret_key: str = field(repr=False)
    token: str | None = field(default=None, repr=False)

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Keys | None:
        """Return the environment's credentials; None if there are none, or if they have an expiry time."""
        key, secret = environ.get("AWS_ACCESS_KEY_ID"), environ.get("AWS_SECRET_ACCESS_KEY")
        if not key or not secret or environ.get("AWS_CREDENTIAL_EXPIRATION"):
            return None
        return cls(key, secret, environ.get("AWS_SESSION_TOKEN") or environ.get("AWS_SECURITY_TOKEN"))


class Chain:
    """Finds and caches credentials, and refreshes them before they expire."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._found: tuple[Any, Any] | None = None

    async def credentials(self) -> Any:
        """Return credentials that are valid now: botocore's ``access_key``, ``secret_key`` and ``token``.

        Raises:
            AwsFailed: There are none; the message says what to do.
        """
        from pi_provider_bedrock.failures import AwsFailed

        try:
            async with asyncio.timeout(SECONDS) as scope:
                return await in_thread(self._resolve)
        except TimeoutError as error:
            if not scope.expired():
                raise
            message = f"AWS credentials were not found within {SECONDS:g} s"
            advice = "Check the credential_process of the profile and the network, or set AWS_BEARER_TOKEN_BEDROCK."
            raise AwsFailed(message, advice=advice) from error

    def forget(self) -> None:
        """Clear the cache, because these credentials were rejected."""
        self._found = None

    def _resolve(self) -> Any:
        try:
            import_module("botocore.auth")  # not in the event loop, when it signs
        except ModuleNotFoundError as error:
            from pi_provider_bedrock.failures import NO_BOTOCORE, AwsFailed

            raise AwsFailed("AWS credentials cannot be used", advice=NO_BOTOCORE) from error
        environ = {name: value for name, value in os.environ.items() if name.startswith(("AWS_", "HOME"))}
        return Keys.of(environ) or self._from_botocore(environ)

    def _from_botocore(self, environ: dict[str, str]) -> Any:
        from botocore.exceptions import BotoCoreError, ClientError  # type: ignore[import-untyped]
        from botocore.session import Session  # type: ignore[import-untyped]

        from pi_provider_bedrock.failures import NO_CREDENTIALS, AwsFailed

        try:
            with self._lock:
                if self._found is None or self._found[0] != environ:
                    self._found = (environ, Session().get_credentials())
                source = self._found[1]
            if source is not None:
                return source.get_frozen_credentials()
        except (BotoCoreError, ClientError, OSError, ValueError, KeyError) as error:
            self.forget()
            raise _failure(error, environ) from error
        self.forget()
        raise AwsFailed("No AWS credentials were found", advice=NO_CREDENTIALS)


def signature(credentials: Any, region: str, url: str, content: bytes) -> dict[str, str]:
    """Return the headers that sign a body of JSON (SigV4)."""
    from botocore.auth import SigV4Auth  # type: ignore[import-untyped]
    from botocore.awsrequest import AWSRequest  # type: ignore[import-untyped]

    request = AWSRequest("POST", url, headers={"content-type": "application/json"}, data=content)
    SigV4Auth(credentials, "bedrock", region).add_auth(request)
    return {name.lower(): value for name, value in request.headers.items()}


async def in_thread(work: Callable[[], T]) -> T:
    """Return what ``work`` returns, from a daemon thread, which does not block the exit."""
    done: Future[T] = Future()

    def run() -> None:
        if not done.set_running_or_notify_cancel():
            return
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised where it is awaited
            done.set_exception(error)

    Thread(target=run, name="pi-aws", daemon=True).start()
    return await asyncio.wrap_future(done)


def _failure(error: Exception, environ: dict[str, str]) -> AwsFailed:
    """Return the failure for botocore's error, with advice."""
    from pi_provider_bedrock.advice import login_advice
    from pi_provider_bedrock.failures import AwsFailed
    from pi_provider_bedrock.profiles import profile_of
    from pi_provider_kit import redact

    profile, name = profile_of(environ), type(error).__name__
    if name == "ProfileNotFound":
        return AwsFailed(f"The AWS profile {profile!r} does not exist", advice=_other_profile(profile))
    secrets = [environ.get(each, "") for each in ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")]
    words = redact(" ".join(str(error).split())[:_WORDS], secrets) or name
    if "SSO" in name or name in ("TokenRetrievalError", "InvalidConfigError") or "ForbiddenException" in words:
        advice = f"Sign in with {login_advice(profile)}."
    elif name == "PartialCredentialsError":
        advice = "Set both, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
    elif variable := next((each for each in _POINTERS if environ.get(each)), None):
        advice = f"Check what {variable} names, or unset it."
    elif name == "JSONDecodeError":
        advice = f"Check the credential_process of profile {profile!r}: it does not print JSON."
    elif name in ("CredentialRetrievalError", "MetadataRetrievalError"):
        advice = (
            f"Check what AWS_PROFILE={profile} names in ~/.aws/config: its command or address returns no credentials."
        )
    elif name == "ClientError":
        advice = f"Check role_arn and source_profile of profile {profile!r}, or sign in with {login_advice(profile)}."
    else:
        advice = f"Check profile {profile!r} in ~/.aws/config, or choose another with AWS_PROFILE."
    return AwsFailed(f"No AWS credentials: {words}", advice=advice)


def _other_profile(profile: str) -> str:
    from botocore.session import Session

    known = sorted(Session().full_config.get("profiles", {}))
    choice = f"Set AWS_PROFILE to one of {', '.join(map(repr, known))}" if known else "Unset AWS_PROFILE"
    return f"{choice}, or create it with `aws configure sso --profile {profile}`."
