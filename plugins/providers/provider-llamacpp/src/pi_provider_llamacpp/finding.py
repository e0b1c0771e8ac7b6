"""Finds GGUF files by their names alone: in the user's folders and the caches of Hugging Face, LM Studio and Ollama."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

from pi_core import expand_home
from pi_hookspecs.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = ["Found", "find_models", "hub_cache", "model_at", "parts_of"]

_DEPTH = 6
"""Levels of folders; a file of Hugging Face's cache is in the fourth or fifth."""
_MOST_FILES = 2000
_PART = re.compile(r"-(?P<number>\d{5})-of-(?P<count>\d{5})$")
"""End of the name of one of several files that are one model."""
_OLLAMA_MODEL = "application/vnd.ollama.image.model"


@frozen
class Found:
    """A model file.

    Attributes:
        id: The model's id in pi.
        path: The file, of several the first.
        place: Where it was found: ``paths``, ``Hugging Face``, ``LM Studio`` or ``Ollama``.
        size: Bytes, of all its files.
        count: How many files it has.
    """

    id: str
    path: Path
    place: str
    size: int
    count: int = 1


def find_models(paths: Iterable[Path], environ: Mapping[str, str], home: Path) -> list[Found]:
    """Return the models, each file once, files in the user's own paths first.

    Args:
        paths: Files and folders of the user.
        environ: The environment, which may say where caches are.
        home: The user's home folder.
    """
    listed = (
        *((file, "paths") for path in paths for file in _files(path)),
        *((file, "Hugging Face") for file in _files(hub_cache(environ, home))),
        *((file, "LM Studio") for folder in _lm_studio(home) for file in _files(folder)),
    )
    found = [model for file, place in listed if (model := _model(file, place)) is not None]
    found += _ollama(environ, home)
    return _named_apart(found)


def hub_cache(environ: Mapping[str, str], home: Path) -> Path:
    """Return the folder of Hugging Face's cache, as its own library finds it."""
    if chosen := environ.get("HF_HUB_CACHE"):
        return expand_home(chosen)
    base = environ.get("XDG_CACHE_HOME") or home / ".cache"
    return expand_home(environ.get("HF_HOME") or Path(base, "huggingface")) / "hub"


def _lm_studio(home: Path) -> tuple[Path, ...]:
    return home / ".lmstudio" / "models", home / ".cache" / "lm-studio" / "models"


def _files(path: Path) -> Iterator[Path]:
    """Yield the files below a folder, or the file itself; folders that cannot be read are skipped."""
    if path.is_file():
        yield path
        return
    left = _MOST_FILES
    folders = [(path, 0)]
    while folders:
        folder, depth = folders.pop()
        try:
            with os.scandir(folder) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in listed:
            if entry.name.lower().endswith(".gguf"):
                yield Path(entry.path)
                left -= 1
                if not left:
                    return
            elif depth < _DEPTH and entry.is_dir(follow_symlinks=False):
                folders.append((Path(entry.path), depth + 1))


def _model(file: Path, place: str) -> Found | None:
    """Return the model that a file is, or is the first part of; None for other files."""
    stem = file.stem
    part = _PART.search(stem)
    if stem.lower().startswith("mmproj") or (part is not None and int(part["number"]) != 1):
        return None
    parts = parts_of(file)
    try:
        size = sum(each.stat().st_size for each in parts)
    except OSError:  # a part is missing, or a link leads nowhere
        return None
    return Found(_PART.sub("", stem), file, place, size, len(parts))


def parts_of(file: Path) -> list[Path]:
    """Return the files of a model, of which the first is given."""
    part = _PART.search(file.stem)
    if part is None:
        return [file]
    name, count = file.stem[: part.start()], part["count"]
    return [file.with_stem(f"{name}-{number:05}-of-{count}") for number in range(1, int(count) + 1)]


def model_at(path: str, name: str) -> Found:
    """Return the model of a path that is known.

    Args:
        path: The file, of several the first.
        name: The model's id.

    Raises:
        UserError: There is no such file, or a part of it is missing.
    """
    file = expand_home(path)
    parts = parts_of(file)
    try:
        size = sum(each.stat().st_size for each in parts)
    except OSError as error:
        raise UserError(
            f"The model file {error.filename!r} of {name!r} cannot be read: {error.strerror}."
            " pi models list shows the models on this disk."
        ) from error
    return Found(name, file, "paths", size, len(parts))


def _ollama(environ: Mapping[str, str], home: Path) -> Iterator[Found]:
    """Yield Ollama's models, whose files are named by their hash and listed in manifests."""
    root = expand_home(environ.get("OLLAMA_MODELS") or home / ".ollama" / "models")
    manifests = root / "manifests"
    for file in sorted(manifests.glob("*/*/*/*"))[:_MOST_FILES]:
        host, owner, name, tag = file.relative_to(manifests).parts
        blob = _blob(file)
        if blob is None:
            continue
        path = root / "blobs" / blob
        full = name if (host, owner) == ("registry.ollama.ai", "library") else f"{owner}/{name}"
        if path.is_file():
            yield Found(f"{full}:{tag}", path, "Ollama", path.stat().st_size)


def _blob(manifest: Path) -> str | None:
    try:
        layers: Any = json.loads(manifest.read_bytes())["layers"]
        digest = next(str(each["digest"]) for each in layers if each["mediaType"] == _OLLAMA_MODEL)
    except (OSError, ValueError, LookupError, TypeError, StopIteration):  # not written by Ollama
        return None
    return digest.replace(":", "-") if re.fullmatch(r"sha256[:-][0-9a-f]{64}", digest) else None


def _named_apart(found: Iterable[Found]) -> list[Found]:
    """Return the models with an id of their own each; a file that two places lead to is one."""
    seen: set[Path] = set()
    named: dict[str, Found] = {}
    for each in found:
        real = each.path.resolve()
        if real in seen:
            continue
        seen.add(real)
        name, number = each.id, 1
        while name.lower() in named:
            number += 1
            name = f"{each.id}-{number}"
        named[name.lower()] = evolve(each, id=name)
    return list(named.values())
