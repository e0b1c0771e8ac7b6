"""Reads providers and models from a plugin's JSON files, on first use."""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from pi_hookspecs.errors import UserError
from pi_hookspecs.model_json import Wrong, line_of, provider_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_hookspecs.models import ProviderInfo

__all__ = ["load_models"]

_T = TypeVar("_T")


def load_models(package: str | Path, file: str) -> list[ProviderInfo]:
    """Return the providers of a JSON file, as ``register_models`` returns them.

    The file has the shape of the user's models.json, ``{"providers": {ID: {...}}}``. A provider has
    ``baseUrl`` and ``api`` (or each of its models has), and may have ``name``, ``keyVariables`` (names of environment
    variables, or ``apiKey: "$NAME"`` for one), ``baseUrlFrom`` (``ProviderInfo.base_url_from``), ``keyless``,
    ``defaultModel``, ``headers``, ``compat``, ``models``, and ``retirements`` (``ProviderInfo.retirements``).
    A model has ``id`` and may have ``name``, ``api``, ``baseUrl``, ``reasoning``, ``input``, ``cost`` (US dollars per
    million tokens; ``tiers`` with ``inputTokensAbove``), ``contextWindow``, ``maxTokens`` (tokens), ``headers``,
    ``compat`` and ``thinkingLevelMap``. A field that a model omits is taken from its provider, or is the default;
    fields not listed here are kept in its ``extra``.

    Where ``models`` is the name of another such file in the same folder, they are read from there on first access:
    a run pays only for the providers that it uses, not for the whole table.

    Args:
        package: The package that contains the file, ``__package__``; for a single-file plugin the folder.
        file: Name of the file, ``/`` between folders.

    Raises:
        UserError: The file cannot be read or used; the message names file and line. Models that are read later raise
            it then.
    """
    return _Source(package, file).providers()


class _Source(NamedTuple):
    """A file of providers, read on demand; errors name it."""

    package: str | Path
    file: str

    def providers(self) -> list[ProviderInfo]:
        """Return all providers; files of their models are not read."""
        return self._build(lambda data: [self._provider(name, data) for name in data])

    def part(self, provider: str, read: Callable[[str, Any], _T]) -> _T:
        """Return a part of what the file has of one provider."""
        return self._build(lambda data: self._part(provider, data, read))

    def _provider(self, name: str, data: dict[str, Any]) -> ProviderInfo:
        try:
            return provider_of(name, data[name], lambda file, read: _Later(self._sibling(file), name, read))
        except Wrong as wrong:
            raise wrong.below("providers", name) from None

    def _part(self, name: str, data: dict[str, Any], read: Callable[[str, Any], _T]) -> _T:
        if name not in data:
            raise Wrong(f"provider {name!r} is missing, and another file names this one for its models", "providers")
        try:
            return read(name, data[name])
        except Wrong as wrong:
            raise wrong.below("providers", name) from None

    def _build(self, build: Callable[[dict[str, Any]], _T]) -> _T:
        """Return what ``build`` makes of the file's providers; add the file's name and line to its errors."""
        path, text = self._read()
        try:
            return build(_providers(json.loads(text)))
        except Wrong as wrong:
            raise UserError(f"{path}, line {line_of(text.decode(), wrong.path)}: {wrong}.") from None
        except json.JSONDecodeError as error:
            raise UserError(f"{path}, line {error.lineno}: this is not JSON: {error.msg}.") from None
        except UnicodeDecodeError as error:
            raise UserError(f"{path}: this is not UTF-8 text: {error.reason} at byte {error.start}.") from None

    def _sibling(self, file: str) -> _Source:
        """Return a file in the same folder."""
        return _Source(self.package, f"{self.file.rpartition('/')[0]}/{file}".lstrip("/"))

    def _read(self) -> tuple[str, bytes]:
        path, read = self._place()
        try:
            return path, read(path)
        except OSError as error:
            message = f"Cannot read {path}: {error.strerror or error}. Is the file part of the installed package?"
            raise UserError(message) from error

    def _place(self) -> tuple[str, Callable[[str], bytes]]:
        # importlib.resources does this too, and costs as much to import as all the rest of a plugin.
        if isinstance(self.package, Path):
            return os.path.join(self.package, *self.file.split("/")), _read_file  # noqa: PTH118 - as below
        if not self.package:
            message = (
                f"load_models cannot find {self.file!r}, because a plugin of one file has no __package__. Pass the "
                f"folder: load_models(Path(__file__).parent, {self.file!r})."
            )
            raise UserError(message)
        module = sys.modules.get(self.package) or import_module(self.package)
        path = os.path.join(module.__path__[0], *self.file.split("/"))  # noqa: PTH118 - loaders take texts
        return path, getattr(module.__loader__, "get_data", _read_file)


class _Later(Generic[_T]):
    """Reads a part of what another file has of a provider when it is called."""

    def __init__(self, source: _Source, provider: str, read: Callable[[str, Any], _T]) -> None:
        self._reads = (source, provider, read)

    def __call__(self) -> _T:
        source, provider, read = self._reads
        return source.part(provider, read)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Later) and self._reads == other._reads

    def __hash__(self) -> int:
        return hash(self._reads)


def _read_file(path: str) -> bytes:
    return Path(path).read_bytes()


def _providers(data: Any) -> dict[str, Any]:
    providers = data.get("providers") if isinstance(data, dict) else None
    if not isinstance(providers, dict):
        raise Wrong('this must be an object {"providers": {ID: {...}}}', "providers")
    return providers
