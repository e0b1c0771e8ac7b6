"""Reads the environment and AWS's two files without botocore: the profile, its region, whether there are credentials.

That is enough to choose an address and to check for credentials; botocore gets them.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pi_provider_bedrock.failures import AwsFailed

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["config_file", "has_credentials", "profile_of", "profile_region"]

_PAIRS = (
    ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
    ("AWS_PROFILE",),
    ("AWS_DEFAULT_PROFILE",),
    ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",),
    ("AWS_CONTAINER_CREDENTIALS_FULL_URI",),
    ("AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN"),
)
"""Variables of credentials."""

_SOURCES = ("aws_access_key_id", "role_arn", "sso_session", "sso_start_url", "credential_process", "login_session")
"""Keys of a profile that has credentials."""


def profile_of(environ: Mapping[str, str]) -> str:
    """Return the name of the selected profile, ``default`` where none is named."""
    return environ.get("AWS_PROFILE") or environ.get("AWS_DEFAULT_PROFILE") or "default"


def config_file(environ: Mapping[str, str]) -> Path:
    """Return the path of the config file."""
    return Path(os.path.expanduser(environ.get("AWS_CONFIG_FILE") or "~/.aws/config"))  # noqa: PTH111 - Path's raises if there is no home


def profile_region(environ: Mapping[str, str]) -> str | None:
    """Return the region of the profile, None if it has none.

    Raises:
        AwsFailed: The file exists and cannot be read.
    """
    return _profile(environ).get("region") or None


def has_credentials(environ: Mapping[str, str]) -> bool:
    """Whether variables or files lead to credentials; their validity is not checked.

    Raises:
        AwsFailed: A file exists and cannot be read.
    """
    if any(all(environ.get(name) for name in names) for names in _PAIRS):
        return True
    return any(key in _profile(environ) for key in _SOURCES)


def _profile(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the profile's keys from both files; the credentials file takes precedence."""
    name = profile_of(environ)
    section = name if name == "default" else f"profile {name}"
    file = environ.get("AWS_SHARED_CREDENTIALS_FILE") or "~/.aws/credentials"
    credentials = Path(os.path.expanduser(file))  # noqa: PTH111 - as above
    return {**_section(config_file(environ), section), **_section(credentials, name)}


def _section(path: Path, section: str) -> dict[str, str]:
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error
    import configparser

    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise _unreadable(path, error) from error
    return dict(parser[section]) if parser.has_section(section) else {}


def _unreadable(path: Path, error: Exception) -> AwsFailed:
    # Not the parser's message: it repeats the line, which may contain a key.
    line = getattr(error, "lineno", None) or next((number for number, _ in getattr(error, "errors", ())), None)
    where = f", line {line}" if line else ""
    reason = error.strerror if isinstance(error, OSError) else "not in the format of AWS's files"
    return AwsFailed(f"The file {str(path)!r} cannot be read{where}: {reason}", advice="Correct it.")
