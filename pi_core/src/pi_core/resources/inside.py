"""Where a path really leads: what a project brings along may be a link to anywhere."""

from __future__ import annotations

import os

__all__ = ["leads_out"]


def leads_out(path: str | os.PathLike[str], *folders: str | os.PathLike[str]) -> bool:
    """Whether a path, links followed, is in none of the folders and none of them; so is one that cannot be followed."""
    try:
        real = os.path.realpath(path)
        around = [os.path.realpath(folder) for folder in folders]
    except (OSError, ValueError):
        return True
    return not any(real == folder or real.startswith(os.path.join(folder, "")) for folder in around)
