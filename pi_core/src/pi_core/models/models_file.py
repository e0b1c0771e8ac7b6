"""The user's models.json: additional providers, and changes to plugins' providers.

``{"providers": {ID: {...}}}``, each in the format of ``pi_hookspecs.model_json``. A mistake disables only the provider
that contains it, and is reported with file and line. Keys and headers are kept as written: they are resolved when a
request is made, and no ``repr`` contains them.
"""

from __future__ import annotations

import json
import reprlib
import stat
from typing import TYPE_CHECKING, Any

from attrs import evolve

from pi_core.base.lenient_json import read_json
from pi_core.models.compat import check_compats
from pi_hookspecs import ProviderInfo
from pi_hookspecs.deferred import field, frozen
from pi_hookspecs.model_json import Wrong, field_of, headers_of, line_of, models_of, override_of, repeated_keys
from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pi_hookspecs import Model

__all__ = ["ModelsFile", "ProviderConfig", "provider_config"]

_PRIVATE = ("headers", "transport")
"""Fields of a model's object that do not become part of ``Model``, but are looked up for each request."""


@frozen(kw_only=True, eq=False, repr=False)
class ProviderConfig(ReprMixin):
    """The configuration of one provider, from models.json or from a program at run time.

    Attributes:
        info: The provider's row, merged with the row that it overrides.
        api_key: The key as written: ``!command``, ``$NAME`` or the key itself.
        headers: Headers of every request, as written.
        auth_header: Whether the key is also sent as ``Authorization: Bearer``.
        transport: The transport of requests, for APIs with several.
        model_headers: Additional headers by model id, as written.
        model_transports: Transports by model id.
        model_base_urls: Base URLs of single models, by model id.
        overrides: Functions that change a model, by model id.
    """

    info: ProviderInfo
    api_key: str | None = field(default=None, repr=False)
    headers: dict[str, str] = field(factory=dict, repr=False)
    auth_header: bool = False
    transport: str | None = None
    model_headers: dict[str, dict[str, str]] = field(factory=dict, repr=False)
    model_transports: dict[str, str] = field(factory=dict)
    model_base_urls: dict[str, str] = field(factory=dict)
    overrides: dict[str, Callable[[Model], Model]] = field(factory=dict, repr=False)


class ModelsFile:
    """Reads ``models.json`` and detects whether it has changed since.

    Args:
        path: The file; None for an empty configuration.

    Attributes:
        problems: The mistakes in the file, one line each.
        apis: The line of the first use of each pair of provider and API id.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.problems: list[str] = []
        self.apis: dict[tuple[str, str], int] = {}
        self._last_stat: tuple[int, int, int] | None = None
        self._configs: dict[str, ProviderConfig] = {}

    def is_current(self) -> bool:
        """Return whether the file is unchanged since it was read."""
        return self._file_stat() == self._last_stat

    def read(self, base_of: Callable[[str], ProviderInfo | None]) -> Mapping[str, ProviderConfig]:
        """Read the file and return its configurations by provider id.

        Args:
            base_of: Returns the existing row of a provider, found case-insensitively; None for a new provider.
        """
        self._last_stat = self._file_stat()
        self.problems, self.apis, self._configs = [], {}, {}
        if self._last_stat is not None:
            self._read(base_of)
        return self._configs

    def _file_stat(self) -> tuple[int, int, int] | None:
        try:
            status = self.path.stat() if self.path is not None else None
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:  # reading it reports the reason
            return (0, 0, -(error.errno or 1))
        return (status.st_mtime_ns, status.st_size, status.st_mode) if status is not None else None

    def _read(self, base_of: Callable[[str], ProviderInfo | None]) -> None:
        providers, text = self._load()
        if any(text.count(f'"{name}"') > 1 for name in providers):
            for name, line in repeated_keys(text, ("providers",)):
                self._add_problem(line, f"provider {name!r} is in the file more than once; only this one is used")
        for name, data in providers.items():
            try:
                self._add_provider(name, data, base_of(name))
            except Wrong as wrong:
                line = line_of(text, ("providers", name, *wrong.path))
                self._add_problem(line, f"{wrong}. Its settings for {name!r} are ignored")
            else:
                self._check_models(text, name, data)

    def _load(self) -> tuple[dict[str, Any], str]:
        """Return the providers and the file as strict JSON; no providers if the file cannot be used."""
        text = ""
        try:
            text = self._text()
            data, text = read_json(text) if text.strip() else ({}, "{}")
            return _providers(data), text
        except json.JSONDecodeError as error:
            problem = f", line {error.lineno}: this is not JSON: {error.msg}"
        except Wrong as wrong:
            problem = f", line {line_of(text, wrong.path)}: {wrong}"
        except UnicodeDecodeError as error:
            problem = f": this is not UTF-8 text: {error.reason} at byte {error.start}"
        except RecursionError:
            problem = ": it is nested too deeply"
        except ValueError:  # the only other exception that reading JSON raises
            problem = ": it contains a number with too many digits"
        except OSError as error:
            problem = f": it cannot be read: {error.strerror or error}"
        self.problems.append(
            f"{self.path}{problem}. The file is ignored; the plugins' models can be used (see pi help models)."
        )
        return {}, "{}"

    def _add_provider(self, name: str, data: Any, base: ProviderInfo | None) -> None:
        provider_id = base.id if base is not None else name
        if not name.isprintable() or name != name.strip() or not name:
            raise Wrong(f"{name!r:.60} cannot be typed as a provider's name")
        if provider_id in self._configs:
            raise Wrong(f"{provider_id!r} is already in the file, in a different spelling")
        self._configs[provider_id] = provider_config(provider_id, data, base)

    def _check_models(self, text: str, name: str, data: Mapping[str, Any]) -> None:
        """Record the APIs that a provider's object uses, and report models that it defines twice."""
        seen: set[str] = set()
        places: list[tuple[tuple[str | int, ...], Any]] = [((), data)]
        for index, model in enumerate(data.get("models") or ()):
            if model["id"].lower() in seen:
                line = line_of(text, ("providers", name, "models", index))
                self._add_problem(line, f"model {model['id']!r} is in {name!r} more than once; the last one is used")
            seen.add(model["id"].lower())
            places.append((("models", index), model))
        for path, named in places:
            if (api := named.get("api")) and (name, api) not in self.apis:
                self.apis[name, api] = line_of(text, ("providers", name, *path, "api"))

    def _add_problem(self, line: int, problem: str) -> None:
        self.problems.append(f"{self.path}, line {line}: {problem}.")

    def _text(self) -> str:
        assert self.path is not None  # noqa: S101 - without a path nothing is read
        if not stat.S_ISREG(self.path.stat().st_mode):  # reading from a pipe or a device may never end
            raise OSError("it is not a regular file")
        return self.path.read_bytes().decode("utf-8-sig")


def _providers(data: Any) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise Wrong('this must be an object {"providers": {ID: {...}}}')
    if data and "providers" not in data:
        raise Wrong(f'this has no "providers", only {reprlib.repr([*data])}')
    providers = data.get("providers", {})
    if not isinstance(providers, dict):
        raise Wrong('"providers" must be an object of providers by id', "providers")
    return providers


def provider_config(name: str, data: Any, base: ProviderInfo | None) -> ProviderConfig:
    """Return the configuration in a value of the ``providers`` object.

    Args:
        name: Its key, the provider's id.
        data: The value.
        base: The existing row of the provider; None for a new provider.

    Raises:
        Wrong: The value is invalid.
    """
    if not isinstance(data, dict):  # the message does not quote it: it may be a key
        raise Wrong(f"provider {name!r} must be an object")
    check_compats(data)
    own = field_of(data, "models", list, [])
    overrides = field_of(data, "modelOverrides", dict, {})
    entries = {each["id"]: each for each in own if isinstance(each, dict) and isinstance(each.get("id"), str)}
    api_key = data.get("apiKey")
    if not isinstance(api_key, str | None):
        raise Wrong("apiKey must be a string: a key, $NAME or !command", "apiKey")
    changes = _overrides(data)
    return ProviderConfig(
        info=_merged_row(name, data, base, changes),
        api_key=api_key or None,
        headers=headers_of(data) or {},
        auth_header=field_of(data, "authHeader", bool, default=False),
        transport=field_of(data, "transport", str, None),
        model_headers=_field_by_model(entries, overrides, headers_of),
        overrides=changes,
        model_transports=_field_by_model(entries, overrides, lambda each: field_of(each, "transport", str, None)),
        model_base_urls=_field_by_model(entries, overrides, lambda each: field_of(each, "baseUrl", str, None)),
    )


def _field_by_model(
    entries: Mapping[str, Any], overrides: Mapping[str, Any], read_field: Callable[[Mapping[str, Any]], Any]
) -> dict[str, Any]:
    """Return the value of one field by model id, from ``models`` first, then from ``modelOverrides``."""
    found = {}
    for model_id, data in {**overrides, **entries}.items():
        try:
            value = read_field(data) if isinstance(data, dict) else None
        except Wrong as wrong:
            place = list(entries).index(model_id) if model_id in entries else model_id
            raise wrong.below("models" if model_id in entries else "modelOverrides", place) from None
        if value:
            found[model_id] = value
    return found


def _merged_row(
    name: str, data: dict[str, Any], base: ProviderInfo | None, changes: dict[str, Callable[[Model], Model]]
) -> ProviderInfo:
    """Return the provider's row, with fields from the file, or else from the plugin's row."""
    row_below = base or ProviderInfo(id=name, name=name, api="")
    base_url = field_of(data, "baseUrl", str, None)
    compat = field_of(data, "compat", dict, {})
    shared: dict[str, Any] = {
        "api": field_of(data, "api", str, row_below.api or None),
        "baseUrl": base_url if base_url is not None or base is None else row_below.base_url,
        "compat": {**(row_below.compat or {}), **compat},
    }
    defined = models_of(
        name, {**shared, "models": [_model_fields(each) for each in field_of(data, "models", list, [])]}
    )
    models = tuple(
        {model.id.lower(): model for model in defined}.values()
    )  # the last of several with the same id is used
    if base is None and not models and not (shared["api"] and base_url):
        raise Wrong(f"no plugin registers provider {name!r}, so it needs baseUrl and api, or models that have them")
    join = _MergedModels(base, base_url, compat, changes, models)
    return evolve(
        row_below,
        name=field_of(data, "name", str, row_below.name),
        api=shared["api"] or models[0].api,
        base_url=shared["baseUrl"] if shared["baseUrl"] is not None else models[0].base_url,
        base_url_from=row_below.base_url_from if base_url is None else "",
        key_variables=_variables(data) or row_below.key_variables,
        keyless=field_of(data, "keyless", bool, row_below.keyless),
        default_model=field_of(data, "defaultModel", str, row_below.default_model),
        compat=shared["compat"] or None,
        models=join if base is not None else models,
    )


@frozen(eq=False, repr=False)
class _MergedModels(ReprMixin):
    """Merges the models on first access, so that the plugin's table is not read earlier."""

    base: ProviderInfo | None
    base_url: str | None
    compat: dict[str, Any]
    overrides: dict[str, Callable[[Model], Model]]
    models: tuple[Model, ...]

    def __call__(self) -> tuple[Model, ...]:
        table = self.base.all_models if self.base is not None else ()
        joined = {model.id.lower(): self.apply_overrides(model) for model in table}
        joined.update({model.id.lower(): model for model in self.models})
        return tuple(joined.values())

    def apply_overrides(self, model: Model) -> Model:
        if self.base_url is not None:
            model = evolve(model, base_url=self.base_url)
        if self.compat:
            model = evolve(model, compat={**(model.compat or {}), **self.compat})
        override = self.overrides.get(model.id)
        return override(model) if override is not None else model


def _overrides(data: Mapping[str, Any]) -> dict[str, Callable[[Model], Model]]:
    made = {}
    for model_id, override in field_of(data, "modelOverrides", dict, {}).items():
        try:
            made[model_id] = override_of(_model_fields(override))
        except Wrong as wrong:
            raise wrong.below("modelOverrides", model_id) from None
    return made


def _model_fields(data: Any) -> Any:
    """Return a model's object without the fields that are looked up for each request."""
    return {key: data[key] for key in data if key not in _PRIVATE} if isinstance(data, dict) else data


def _variables(data: Mapping[str, Any]) -> tuple[str, ...]:
    names = field_of(data, "keyVariables", list, [])
    if not all(isinstance(name, str) for name in names):
        raise Wrong("keyVariables must be a list of names of environment variables", "keyVariables")
    return tuple(names)
