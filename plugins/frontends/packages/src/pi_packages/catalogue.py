"""The catalogue: a reviewed list of packages, the examples, and the user's ``packages.catalogues``."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_core import replace_file
from pi_core.base.paths import expand_home
from pi_hookspecs import UserError
from pi_packages.examples import example_rows
from pi_packages.output import print_lines, say
from pi_packages.settings import CATALOGUES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pi_core.settings import Settings

__all__ = ["catalogue", "find", "refresh"]

_SECONDS = 20.0


def catalogue(settings: Settings) -> list[dict[str, Any]]:
    """Return all entries: ``name``, ``source``, ``description``, ``keywords``; the user's catalogues win."""
    found = {each["source"]: each for each in example_rows()}
    for file in _files(settings):
        for entry in _read(file):
            found[entry["source"]] = entry
    return sorted(found.values(), key=lambda each: each["name"])


def find(words: Sequence[str], entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the entries that contain all words, best matches by name first."""
    lowered = [word.lower() for word in words]

    def text(entry: dict[str, Any]) -> str:
        return " ".join([entry["name"], entry.get("description", ""), *entry.get("keywords", ())]).lower()

    matching = [each for each in entries if all(word in text(each) for word in lowered)]
    return sorted(matching, key=lambda each: -sum(word in each["name"].lower() for word in lowered))


def refresh(settings: Settings, *, offline: bool) -> None:
    """Fetch the user's catalogues again."""
    addresses = [each for each in _catalogues(settings) if "://" in each]
    if addresses and offline:
        raise UserError("Catalogues cannot be fetched offline")
    import httpx

    for address in addresses:
        try:
            answer = httpx.get(address, timeout=_SECONDS, follow_redirects=True)
            answer.raise_for_status()
            entries = _checked(answer.json(), address)
        except (httpx.HTTPError, ValueError) as error:
            raise UserError(f"The catalogue {address} cannot be fetched: {error}") from error
        file = _cached(settings, address)
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, json.dumps(entries).encode(), durable=False)
        print_lines(f"{address}: {len(entries)} package{'' if len(entries) == 1 else 's'}")


def _catalogues(settings: Settings) -> list[str]:
    files: list[str] = CATALOGUES.read(settings)
    return files


def _cached(settings: Settings, address: str) -> Path:
    key = sha256(address.encode()).hexdigest()[:16]
    return settings.agent_dir / "packages" / "catalogues" / f"{key}.json"


def _files(settings: Settings) -> Iterator[Path]:
    yield Path(__file__).parent / "catalogue.json"
    for each in _catalogues(settings):
        yield _cached(settings, each) if "://" in each else expand_home(each)


def _read(file: Path) -> list[dict[str, Any]]:
    try:
        return _checked(json.loads(file.read_text(encoding="utf-8")), str(file))
    except FileNotFoundError:
        say(f"Warning: the catalogue {file} does not exist. pi update --models fetches those with a URL")
    except (OSError, ValueError) as error:
        say(f"Warning: the catalogue {file} cannot be read: {error}")
    return []


def _checked(value: Any, origin: str) -> list[dict[str, Any]]:
    """Return the valid entries.

    Raises:
        ValueError: It is not a catalogue.
    """
    entries = value.get("packages") if isinstance(value, dict) else value
    if not isinstance(entries, list):
        raise ValueError(f"{origin} must be a list of packages")  # noqa: TRY004 - a wrong file, not a wrong argument
    needed = ("name", "source")
    return [
        each for each in entries if isinstance(each, dict) and all(isinstance(each.get(key), str) for key in needed)
    ]
