"""The version that editors display."""

from __future__ import annotations

__all__ = ["version"]


def version() -> str:
    """Return the version of this distribution; 0 where it is not installed as one."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("pluggypi-acp")
    except PackageNotFoundError:
        return "0"
