"""Google's application default credentials: a key file, a sign-in with gcloud, or the machine's own account.

google-auth finds and refreshes them. It is imported with the first request that needs it, and works in a thread: its
network and files block.
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pi_hookspecs.errors import MissingKey, RequestFailed

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["AMBIENT", "AmbientCredentials", "AmbientToken", "ambient_token"]

AMBIENT = "<authenticated>"
"""Placeholder for a key where the machine is signed in; the token is fetched with the request."""

_SCOPE = "https://www.googleapis.com/auth/cloud-platform"

_SECONDS = 20.0
"""Timeout of a request for a token in seconds."""

_SIGN_IN = (
    "Run `gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS to a key file, "
    "or GOOGLE_CLOUD_API_KEY to a key."
)

_SET = (
    "Set GOOGLE_CLOUD_API_KEY; or set GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION, and run "
    "`gcloud auth application-default login` or set GOOGLE_APPLICATION_CREDENTIALS to a key file."
)

_MACHINE = Path("/sys/class/dmi/id/product_name")
"""File that contains ``Google`` on a machine of Compute Engine."""


class AmbientToken(NamedTuple):
    """A valid token, and the project of its credentials."""

    token: str
    project: str | None
    quota_project: str | None


class AmbientCredentials:
    """Credential source of provider ``google-vertex`` where the user has no key: returns ``<authenticated>``.

    Args:
        environ: The environment; the process's own when None.
    """

    name = "google-vertex"

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self._environ = environ

    def available(self, provider: str) -> bool | None:
        """Return whether a request could be made, by the environment and the file system alone.

        True if credentials, project and location are configured, else None: the error of a request then names what is
        missing.
        """
        if provider != self.name:
            return False
        known = self._known(os.environ if self._environ is None else self._environ)
        return all(known) or None

    async def credential(self, provider: str) -> str | None:
        """Return ``<authenticated>`` where anything is configured for Vertex AI.

        Raises:
            MissingKey: Nothing is.
        """
        if provider != self.name:
            return None
        environ = os.environ if self._environ is None else self._environ
        if environ.get("GOOGLE_APPLICATION_CREDENTIALS") or any(self._known(environ)):
            return AMBIENT
        raise MissingKey(f"No API key found for {provider}. {_SET}")

    @staticmethod
    def _known(environ: Mapping[str, str]) -> tuple[bool, bool, bool]:
        """Return whether project, location and credentials are configured."""
        return bool(_project(environ)), bool(environ.get("GOOGLE_CLOUD_LOCATION")), _has_credentials(environ)


async def ambient_token() -> AmbientToken:
    """Return a token of the machine's credentials, refreshed where it has expired.

    Raises:
        RequestFailed: There are no credentials, they were not accepted, or google-auth is not installed.
    """
    return await asyncio.to_thread(_CREDENTIALS.token)


class _Credentials:
    """The cached credentials of this process. One thread at a time refreshes the token."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: dict[tuple[str | None, ...], tuple[Any, str | None]] = {}

    def token(self) -> AmbientToken:
        auth, errors, transport = _google_auth()
        with self._lock:
            try:
                credentials, project = self._default(auth)
                if not credentials.valid:
                    credentials.refresh(_bounded(transport))
            except errors.DefaultCredentialsError as error:
                raise RequestFailed(f"No Google Cloud credentials: {_reason(error)} {_SIGN_IN}") from error
            except errors.RefreshError as error:
                self._found.clear()  # the user may sign in again while pi runs
                message = f"Google Cloud did not accept the credentials: {_reason(error)} {_SIGN_IN}"
                raise RequestFailed(message, status=401) from error
            except errors.GoogleAuthError as error:
                raise RequestFailed(f"Connection error. No Google Cloud token: {_reason(error)}") from error
            quota = getattr(credentials, "quota_project_id", None)
            return AmbientToken(credentials.token, project, quota)

    def _default(self, auth: Any) -> tuple[Any, str | None]:
        key = tuple(os.environ.get(name) for name in ("GOOGLE_APPLICATION_CREDENTIALS", "CLOUDSDK_CONFIG"))
        if key not in self._found:
            self._found[key] = _user_of_gcloud(os.environ) or auth.default(scopes=[_SCOPE])
        return self._found[key]


_CREDENTIALS = _Credentials()


def _google_auth() -> tuple[Any, Any, Any]:
    """Return the modules of google-auth.

    Raises:
        RequestFailed: It is not installed.
    """
    try:
        names = ("google.auth", "google.auth.exceptions", "google.auth.transport.requests")
        auth, errors, transport = map(import_module, names)
    except ImportError as error:
        message = (
            f"Signing in to Google Cloud needs the package google-auth ({error}). "
            "Install pluggypi-provider-google[adc], or set GOOGLE_CLOUD_API_KEY to a key."
        )
        raise RequestFailed(message) from error
    return auth, errors, transport


def _user_of_gcloud(environ: Mapping[str, str]) -> tuple[Any, None] | None:
    """Return the credentials of the user who signed in with gcloud, where the environment names the project.

    google-auth would find them, too, but runs gcloud for a project first, which takes seconds. None if it has to
    search: for a key file, for another kind of account, or for a file that it will refuse.
    """
    if environ.get("GOOGLE_APPLICATION_CREDENTIALS") or not _project(environ):
        return None
    try:
        known = json.loads(_gcloud_file(environ).read_text("utf-8"))
        if known.get("type") != "authorized_user":
            return None
        return import_module("google.oauth2.credentials").Credentials.from_authorized_user_info(known), None
    except (OSError, ValueError, AttributeError):
        return None


def _project(environ: Mapping[str, str]) -> str | None:
    return environ.get("GOOGLE_CLOUD_PROJECT") or environ.get("GCLOUD_PROJECT")


def _bounded(transport: Any) -> Any:
    """Return google-auth's transport with a shorter timeout, because a thread cannot be aborted."""

    class Bounded(transport.Request):  # type: ignore[misc] # base class from a module that is imported lazily
        def __call__(self, *args: Any, timeout: float = _SECONDS, **options: Any) -> Any:
            return super().__call__(*args, timeout=timeout, **options)

    return Bounded()


def _reason(error: Exception) -> str:
    """Return the first part of the error; the rest is the token endpoint's response."""
    first = str(error.args[0] if error.args else error).strip() or type(error).__name__
    return f"{first.splitlines()[0].rstrip('.')}."


def _has_credentials(environ: Mapping[str, str]) -> bool:
    named = environ.get("GOOGLE_APPLICATION_CREDENTIALS")
    return Path(named).is_file() if named else _gcloud_file(environ).is_file() or _is_googles_machine(environ)


def _gcloud_file(environ: Mapping[str, str]) -> Path:
    """Return the path of gcloud's application default credentials."""
    folder = environ.get("CLOUDSDK_CONFIG")
    if not folder and os.name == "nt":
        folder = str(Path(environ.get("APPDATA", "")) / "gcloud")
    folder = folder or os.path.expanduser("~/.config/gcloud")  # noqa: PTH111 - Path.home() raises if there is none
    return Path(folder, "application_default_credentials.json")


def _is_googles_machine(environ: Mapping[str, str]) -> bool:
    """Whether a metadata server is to be expected: Cloud Run, or Compute Engine."""
    if environ.get("K_SERVICE") or environ.get("GCE_METADATA_HOST"):
        return True
    try:
        return _MACHINE.read_text("utf-8").startswith("Google")
    except OSError:
        return False
