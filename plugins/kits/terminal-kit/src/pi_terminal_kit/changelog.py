"""What has changed in pi, by version: the wheel has a copy of CHANGELOG.md, and a clone the file itself."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["changes", "changes_text"]

_PACKAGED = Path(__file__).with_name("CHANGELOG.md")
_VERSION = re.compile(r"^## (?P<version>\S+)(?: \(.*\))?$", re.MULTILINE)


def changes_text() -> str:
    """Return the Markdown text of the changelog; empty if the file is missing."""
    file = _PACKAGED if _PACKAGED.is_file() else Path(__file__).parents[5] / "CHANGELOG.md"
    return file.read_text(encoding="utf-8") if file.is_file() else ""


def changes(version: str = "", text: str | None = None) -> str:
    """Return the section of a version as Markdown, and a line that names the earlier versions.

    Args:
        version: The version; empty for the newest.
        text: The changelog, newest version first; by default that of pi.
    """
    text = changes_text() if text is None else text
    found = list(_VERSION.finditer(text))
    if not found:
        return "The list of changes is not installed. Reinstall pi."
    names = [each["version"] for each in found]
    wanted = version.strip().removeprefix("v") or names[0]
    if wanted not in names:
        return f"There is no version {wanted!r} in the list of changes. It has {', '.join(names)}."
    at = names.index(wanted)
    end = found[at + 1].start() if at + 1 < len(found) else len(text)
    section = text[found[at].start() : end].strip()
    earlier = [f"/changelog {name}" for name in names[at + 1 :]]
    return section + (f"\n\nEarlier versions: {', '.join(earlier)}" if earlier else "")
