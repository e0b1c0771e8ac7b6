"""The packages from which ``pi update --models`` takes what is known of models: only data of them is read.

An npm package is the original's library, which has facts about models. A distribution is LiteLLM, whose wheel says when
vendors end models. The user's own npm, uv or pip fetches each and compares its hash with that of the index.
"""

from __future__ import annotations

import json
import tarfile
from hashlib import sha256
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from pi_core.models.fetched import FACTS
from pi_core.models.renamed import RENAMED
from pi_hookspecs import UserError
from pi_hookspecs.model_json import Wrong, override_of, retirement_of
from pi_packages.contents import find_distributions, is_unchanged
from pi_packages.model_facts import RETIREMENT_DATA, convert_original, read_library, retirements_in
from pi_packages.npm import fetch_tarball
from pi_packages.sources import parse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pi_packages.change import Context
    from pi_packages.sources import Source

__all__ = ["FILES", "RETIREMENTS", "ByModel", "Found", "fetch", "part_of", "sources_of"]

FILES = "files"
"""The part of what is known that has facts about models."""

RETIREMENTS = "retirements"
"""The part that says when models end."""

ByModel = dict[str, dict[str, Any]]

_PARTS = {"npm": FILES, "index": RETIREMENTS, "wheel": RETIREMENTS}
_MAX_BYTES = 50_000_000
"""Size of LiteLLM's file, which has 3.5 MB."""


class Found(NamedTuple):
    """What a package says.

    Attributes:
        source: The package.
        version: Its version.
        integrity: The hash of what was read.
        part: ``FILES`` or ``RETIREMENTS``.
        known: What it says, by provider and model id.
    """

    source: str
    version: str
    integrity: str
    part: str
    known: dict[str, ByModel]


def sources_of(written: Sequence[str], folder: Path, home: Path) -> list[Source]:
    """Return the sources that the setting ``packages.modelData`` lists.

    Raises:
        UserError: One of them is of a kind that has no such data.
    """
    found = [parse(each, folder, home) for each in written]
    for each in found:
        if each.kind not in _PARTS:
            raise UserError(f"packages.modelData must list packages, as npm:NAME and pypi:NAME, not {each.text!r}")
    return found


def part_of(source: Source) -> str:
    """Return which part of what is known a source has."""
    return _PARTS[source.kind]


def fetch(source: Source, context: Context, folder: Path) -> Found:
    """Fetch a package and read it.

    Raises:
        UserError: It cannot be fetched or read.
    """
    if source.kind == "npm":
        tarball, integrity = fetch_tarball(source, context, folder)
        version, known = _read(source.text, lambda: _facts_in(tarball))
        tarball.unlink()
    else:
        with TemporaryDirectory(prefix="wheel-", dir=folder) as name:
            file, version = _unpacked(source, context, folder / name)
            content = file.read_bytes() if file.stat().st_size <= _MAX_BYTES else b""
        integrity = f"sha256-{sha256(content).hexdigest()}"
        version, known = _read(source.text, lambda: (version, _retirements_in(content)))
    if not known:
        raise UserError(f"{source.text} has no data about models. Nothing was changed")
    return Found(source.text, version, integrity, part_of(source), known)


def _unpacked(source: Source, context: Context, folder: Path) -> tuple[Path, str]:
    """Unpack a distribution; return its file with data, which is as the wheel's list of hashes says, and its version.

    Raises:
        UserError: It cannot be fetched, or has no such file.
    """
    context.say(f"Fetching {source.text}")
    context.installer().unpack(source.location, folder, context.options)
    file = folder / RETIREMENT_DATA
    for found in find_distributions(folder).values():
        if is_unchanged(found, folder, RETIREMENT_DATA):
            return file, found.version
    raise UserError(f"{source.text} has no {RETIREMENT_DATA} that its list of hashes confirms. Nothing was changed")


def _facts_in(tarball: Path) -> tuple[str, dict[str, ByModel]]:
    found: dict[str, ByModel] = {}
    library = read_library(tarball)
    for theirs, groups in library.providers.items():
        models = [each for group in groups.values() for each in group.values() if each["type"] == "chat"]
        facts = {each["id"]: _facts_of(convert_original(each)) for each in models}
        if facts:
            found[RENAMED.get(theirs, theirs)] = facts
    return library.version, found


def _facts_of(model: Mapping[str, Any]) -> dict[str, Any]:
    facts = {key: value for key, value in model.items() if key in FACTS}
    override_of(facts)
    return {"api": str(model["api"]), **facts}


def _retirements_in(content: bytes) -> dict[str, ByModel]:
    found = retirements_in(json.loads(content))
    return {
        provider: {model_id: retirement_of(each) for model_id, each in ends.items()} for provider, ends in found.items()
    }


def _read(name: str, read: Any) -> tuple[str, dict[str, ByModel]]:
    """Return what a function reads of a package.

    Raises:
        UserError: It cannot be read.
    """
    try:
        version, known = read()
    except (OSError, tarfile.TarError, EOFError) as error:
        raise UserError(f"{name} cannot be unpacked: {error}") from error
    except (KeyError, TypeError, ValueError, AttributeError, Wrong) as error:
        reason = f"there is no {error}" if isinstance(error, KeyError) else error
        raise UserError(
            f"{name} has data about models that this version of pi cannot read ({reason}). Nothing was changed; pi"
            " update may bring a version that can"
        ) from error
    return version, known
