"""``pi install -r FILE``: requirements, a lock file, or what ``pi list --json`` printed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pi_core.base.json_file import read_text
from pi_hookspecs import UserError, WrongUse
from pi_packages.lock import parse_lock

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["sources_in"]


def sources_in(file: Path) -> list[str]:
    """Return the sources in a file.

    Raises:
        UserError: It cannot be read or contains no source; the exit code is 2 if it does not exist.
    """
    text = read_text(file)
    if text is None:
        raise WrongUse(f"There is no file {str(file)!r}")
    if file.name.startswith("pylock.") and file.suffix == ".toml":
        lock = parse_lock(text, str(file))
        named = [each["source"] for each in lock.get("tool", {}).get("pi", {}).get("sources", ())]
        return named or [f"pypi:{each['name']}=={each['version']}" for each in lock["packages"] if "version" in each]
    if text.lstrip().startswith(("[", "{")):
        return _listed(text, file)
    lines = (line.partition(" #")[0].strip() for line in text.splitlines())
    wanted = [line for line in lines if line and not line.startswith("#")]
    wrong = [line for line in wanted if line.startswith("-")]
    if wrong:
        raise UserError(f"{file}: {wrong[0]!r} is an option of an installer. Write sources only; see --find-links")
    return [line if ":" in line or line.startswith((".", "/")) else f"pypi:{line}" for line in wanted]


def _listed(text: str, file: Path) -> list[str]:
    try:
        rows = json.loads(text)
        found = [row["source"] for row in rows if row.get("scope") != "environment"]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise UserError(f"{file} is not what pi list --json prints: {error}") from error
    return [each for each in found if isinstance(each, str)]
