"""Checks whether a path with resolved links is outside a folder; a project's files may be links to anywhere."""

from __future__ import annotations

import os

__all__ = ["escapes_root", "leads_out"]


def escapes_root(path: str | os.PathLike[str], *folders: str | os.PathLike[str]) -> bool:
    """Return whether a path with resolved links is outside all of the folders; True if it cannot be resolved."""
    try:
        real = os.path.realpath(path)
        roots = [os.path.realpath(folder) for folder in folders]
    except (OSError, ValueError):
        return True
    return not any(real == root or real.startswith(os.path.join(root, "")) for root in roots)


leads_out = escapes_root
"""The name of ``escapes_root`` in pi 1.0."""
