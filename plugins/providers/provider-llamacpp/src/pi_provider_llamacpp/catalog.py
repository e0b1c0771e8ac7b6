"""The models of the files that were found, for pi, for people and as JSON for programs.

Headers are cached between starts.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from attrs import asdict, frozen

from pi_core import home_dir, replace_file
from pi_hookspecs.errors import UserError
from pi_hookspecs.models import Model
from pi_provider_llamacpp.finding import Found, find_models
from pi_provider_llamacpp.gguf import Header, read_header
from pi_provider_llamacpp.names import API, PROVIDER_ID

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from pathlib import Path

    from pi_provider_llamacpp.options import Options

__all__ = ["NOTHING", "Listed", "as_data", "as_lines", "list_models", "named", "shown_size", "to_model"]

_FORMAT = 1
"""Changes with what is read of a header."""
_NO_CHAT = frozenset({"bert", "clip", "jina-bert-v2", "nomic-bert", "t5encoder", "whisper"})
"""Architectures that answer nothing: embeddings, and the eyes and ears of other models."""
_UNKNOWN_WINDOW = 4096


@frozen
class Listed:
    """A file and its header; ``header`` is None if there was no time to read it, or it is damaged."""

    found: Found
    header: Header | None = None
    problem: str = ""


def list_models(options: Options, agent_dir: Path, *, seconds: float | None = None) -> list[Listed]:
    """Return the models on this disk.

    Args:
        options: Where to look.
        agent_dir: Where what was read is kept.
        seconds: After this time no more headers are read, and files are listed without.
    """
    end = None if seconds is None else time.monotonic() + seconds
    found = find_models(options.paths, os.environ, home_dir())
    cache = agent_dir / "cache" / "gguf.json"
    known = _kept(cache)
    kept: dict[str, Any] = {}
    listed: list[Listed] = []
    for each in found:
        key = _key(each.path)
        header, problem = _cached(known.get(key)), ""
        if header is None and (end is None or time.monotonic() < end):
            try:
                header = read_header(each.path)
            except UserError as error:
                problem = str(error)
        if header is not None:
            kept[key] = asdict(header, filter=lambda field, _: field.name != "template")
        if header is None or (header.kind == "model" and header.architecture not in _NO_CHAT):
            listed.append(Listed(each, header, problem))
    if kept != known:
        _keep(cache, kept)
    return listed


def to_model(listed: Listed, options: Options) -> Model:
    """Return the model as pi knows it; its window is what fits the setting, or the user's value in models.json."""
    header = listed.header
    trained = header.context_length if header is not None else 0
    window = min(trained or _UNKNOWN_WINDOW, options.context_tokens)
    return Model(
        id=listed.found.id,
        name=header.name if header is not None and header.name else listed.found.id,
        api=API,
        provider=PROVIDER_ID,
        reasoning=header is not None and header.thinks,
        context_window=window,
        max_tokens=window,
        compat={"path": os.fspath(listed.found.path)},
    )


def _key(path: Path) -> str:
    """Return what changes with a file; empty if it is gone."""
    with suppress(OSError):
        facts = path.stat()
        return f"{path}|{facts.st_size}|{facts.st_mtime_ns}"
    return ""


def _kept(cache: Path) -> dict[str, Any]:
    """Return the cached headers; none if the file has another version or another owner."""
    with suppress(OSError, ValueError):
        content = json.loads(cache.read_bytes())
        if isinstance(content, dict) and content.get("format") == _FORMAT and isinstance(content.get("headers"), dict):
            return dict(content["headers"])
    return {}


def _cached(values: Any) -> Header | None:
    with suppress(TypeError):
        return Header(**values) if isinstance(values, dict) else None
    return None


def _keep(cache: Path, headers: dict[str, Any]) -> None:
    """Replace the file; a folder that cannot be written only costs the time to read the headers again."""
    with suppress(OSError):
        cache.parent.mkdir(parents=True, exist_ok=True)
        replace_file(cache, json.dumps({"format": _FORMAT, "headers": headers}).encode(), durable=False)


def named(name: str, models: Iterable[Listed]) -> Listed:
    """Return the model with this name, with or without the provider's.

    Raises:
        UserError: There is none, or the name is part of several.
    """
    wanted = name.strip().removeprefix(f"{PROVIDER_ID}/").lower()
    every = list(models)
    is_it: tuple[Callable[[str], bool], ...] = (lambda model: model == wanted, lambda model: wanted in model)
    for matches in is_it:
        fitting = [each for each in every if matches(each.found.id.lower())]
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            names = ", ".join(each.found.id for each in fitting)
            raise UserError(f"{name!r} matches several models: {names}. Give the full name of one.")
    raise UserError(
        f"No GGUF file on this disk is the model {name!r}. pi models list shows those that were found;"
        " llamacpp.paths in settings.json adds folders."
    )


NOTHING = (
    "No GGUF files were found: not in the caches of Hugging Face, LM Studio and Ollama, nor in llamacpp.paths of"
    " settings.json. pi models pull REPO:FILE downloads one, as does /llama pull REPO:FILE."
)


def as_lines(models: Sequence[Listed], options: Options, loaded: Collection[Path] = ()) -> list[str]:
    """Return a line for each model: id, size, window, place, and whether it is loaded or damaged."""
    rows = [_row(each, options, loaded) for each in models]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _row(listed: Listed, options: Options, loaded: Collection[Path]) -> tuple[str, ...]:
    found = listed.found
    window = _window(listed, options)
    state = listed.problem or ("loaded" if found.path in loaded else "")
    return found.id, shown_size(found.size), f"{window:,} tokens" if window else "?", found.place, state


def _window(listed: Listed, options: Options) -> int:
    trained = listed.header.context_length if listed.header is not None else 0
    return min(trained, options.context_tokens)


def as_data(models: Sequence[Listed], options: Options) -> list[dict[str, Any]]:
    """Return the models as plain data."""
    return [
        {
            "id": each.found.id,
            "path": str(each.found.path),
            "place": each.found.place,
            "size": each.found.size,
            "contextWindow": _window(each, options),
            "error": each.problem or None,
        }
        for each in models
    ]


def shown_size(size: int) -> str:
    """Return a size in GB, or in MB where it is small."""
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"  # noqa: PLR2004
