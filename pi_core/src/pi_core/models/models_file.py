"""The user's models.json: providers of their own, and changes to those that plugins bring.

``{"providers": {ID: {...}}}``, each in the shape that ``pi_hookspecs.model_json`` knows. What is wrong costs the
provider that it is part of, never the rest, and is told with file and line. Keys and headers stay as they are
written here: they are resolved when a request is made, and are in no ``repr``.
"""

from __future__ import annotations

import json
import reprlib
import stat
from typing import TYPE_CHECKING, Any

from attrs import evolve, field, frozen

from pi_core.base.lenient_json import read_json
from pi_hookspecs import ProviderInfo
from pi_hookspecs.model_json import Wrong, field_of, headers_of, line_of, models_of, override_of, repeated_keys
from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pi_hookspecs import Model

__all__ = ["ModelsFile", "ProviderConfig", "provider_config"]

_PRIVATE = ("headers", "transport")
"""Fields of a model that are not the model's: they are looked up for each request."""


@frozen(kw_only=True, eq=False, repr=False)
class ProviderConfig(ReprMixin):
    """What models.json, or a program at run time, says of one provider.

    Attributes:
        info: The provider's row, joined with the one that this lies over.
        api_key: Where the key comes from, as written: ``!command``, ``$NAME`` or the key itself.
        headers: Sent with every request, as written.
        auth_header: Whether the key goes along as ``Authorization: Bearer``, too.
        transport: How requests travel, where the API leaves a choice.
        model_headers: Further headers by model id, as written.
        model_transports: The same by model id.
        overrides: What is changed of models, by id.
    """

    info: ProviderInfo
    api_key: str | None = field(default=None, repr=False)
    headers: dict[str, str] = field(factory=dict, repr=False)
    auth_header: bool = False
    transport: str | None = None
    model_headers: dict[str, dict[str, str]] = field(factory=dict, repr=False)
    model_transports: dict[str, str] = field(factory=dict)
    overrides: dict[str, Callable[[Model], Model]] = field(factory=dict, repr=False)


class ModelsFile:
    """``models.json`` as it is now, to be read again when it has changed.

    Args:
        path: The file; None is one that says nothing.

    Attributes:
        problems: What cannot be used, one line each.
        apis: The provider and API id of each API that it names, and the line where it does so first.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.problems: list[str] = []
        self.apis: dict[tuple[str, str], int] = {}
        self._seen: tuple[int, int, int] | None = None
        self._configs: dict[str, ProviderConfig] = {}

    def is_current(self) -> bool:
        """Return whether the file is still the one that was read last."""
        return self._mark() == self._seen

    def read(self, base_of: Callable[[str], ProviderInfo | None]) -> Mapping[str, ProviderConfig]:
        """Read the file and return what it says, by provider id.

        Args:
            base_of: Returns the row that a provider in the file lies over, whose id may differ in upper and lower
                case; None for one that is new.
        """
        self._seen = self._mark()
        self.problems, self.apis, self._configs = [], {}, {}
        if self._seen is not None:
            self._read(base_of)
        return self._configs

    def _mark(self) -> tuple[int, int, int] | None:
        try:
            status = self.path.stat() if self.path is not None else None
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:  # reading it tells why
            return (0, 0, -(error.errno or 1))
        return (status.st_mtime_ns, status.st_size, status.st_mode) if status is not None else None

    def _read(self, base_of: Callable[[str], ProviderInfo | None]) -> None:
        providers, text = self._loaded()
        if any(text.count(f'"{name}"') > 1 for name in providers):
            for name, line in repeated_keys(text, ("providers",)):
                self._tell(line, f"provider {name!r} is in the file more than once; only this one counts")
        for name, data in providers.items():
            try:
                self._provide(name, data, base_of(name))
            except Wrong as wrong:
                line = line_of(text, ("providers", name, *wrong.path))
                self._tell(line, f"{wrong}. What it says of {name!r} is ignored")
            else:
                self._look_at_models(text, name, data)

    def _loaded(self) -> tuple[dict[str, Any], str]:
        """Return the providers and the file as strict JSON; none where it cannot be used."""
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
        except ValueError:  # the only other one that reading JSON raises
            problem = ": it has a number of too many digits"
        except OSError as error:
            problem = f": it cannot be read: {error.strerror or error}"
        self.problems.append(f"{self.path}{problem}. The file is ignored; the plugins' models can be used.")
        return {}, "{}"

    def _provide(self, name: str, data: Any, base: ProviderInfo | None) -> None:
        provider_id = base.id if base is not None else name
        if not name.isprintable() or name != name.strip() or not name:
            raise Wrong(f"{name!r:.60} cannot be typed as a provider's name")
        if provider_id in self._configs:
            raise Wrong(f"{provider_id!r} is in the file already, in other letters")
        self._configs[provider_id] = provider_config(provider_id, data, base)

    def _look_at_models(self, text: str, name: str, data: Mapping[str, Any]) -> None:
        """Note which APIs a provider's object names, and tell of models that it has twice."""
        seen: set[str] = set()
        places: list[tuple[tuple[str | int, ...], Any]] = [((), data)]
        for index, model in enumerate(data.get("models") or ()):
            if model["id"].lower() in seen:
                line = line_of(text, ("providers", name, "models", index))
                self._tell(line, f"model {model['id']!r} is in {name!r} more than once; the last one counts")
            seen.add(model["id"].lower())
            places.append((("models", index), model))
        for path, named in places:
            if (api := named.get("api")) and (name, api) not in self.apis:
                self.apis[name, api] = line_of(text, ("providers", name, *path, "api"))

    def _tell(self, line: int, problem: str) -> None:
        self.problems.append(f"{self.path}, line {line}: {problem}.")

    def _text(self) -> str:
        assert self.path is not None  # noqa: S101 - without a path nothing is read
        if not stat.S_ISREG(self.path.stat().st_mode):  # reading from a pipe or a device may never end
            raise OSError("it is no regular file")
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
    """Return what an object of ``providers`` says.

    Args:
        name: The key it stands under, the provider's id.
        data: The object.
        base: The provider's row so far; None for a provider that is new.

    Raises:
        Wrong: The object is not as it must be.
    """
    if not isinstance(data, dict):  # not shown: somebody may have written a key here
        raise Wrong(f"provider {name!r} must be an object")
    own = field_of(data, "models", list, [])
    overrides = field_of(data, "modelOverrides", dict, {})
    entries = {each["id"]: each for each in own if isinstance(each, dict) and isinstance(each.get("id"), str)}
    api_key = data.get("apiKey")
    if not isinstance(api_key, str | None):
        raise Wrong("apiKey must be a text: a key, $NAME or !command", "apiKey")
    changes = _overrides(data)
    return ProviderConfig(
        info=_joined(name, data, base, changes),
        api_key=api_key or None,
        headers=headers_of(data) or {},
        auth_header=field_of(data, "authHeader", bool, default=False),
        transport=field_of(data, "transport", str, None),
        model_headers=_by_model(entries, overrides, headers_of),
        overrides=changes,
        model_transports=_by_model(entries, overrides, lambda each: field_of(each, "transport", str, None)),
    )


def _by_model(
    entries: Mapping[str, Any], overrides: Mapping[str, Any], look: Callable[[Mapping[str, Any]], Any]
) -> dict[str, Any]:
    """Return what models, and overrides of models that the file does not define, say of one thing."""
    found = {}
    for model_id, data in {**overrides, **entries}.items():
        try:
            value = look(data) if isinstance(data, dict) else None
        except Wrong as wrong:
            place = list(entries).index(model_id) if model_id in entries else model_id
            raise wrong.below("models" if model_id in entries else "modelOverrides", place) from None
        if value:
            found[model_id] = value
    return found


def _joined(
    name: str, data: dict[str, Any], base: ProviderInfo | None, changes: dict[str, Callable[[Model], Model]]
) -> ProviderInfo:
    """Return the provider's row: what is said here, over what the plugin's table says."""
    under = base or ProviderInfo(id=name, name=name, api="")
    base_url = field_of(data, "baseUrl", str, None)
    compat = field_of(data, "compat", dict, {})
    shared: dict[str, Any] = {
        "api": field_of(data, "api", str, under.api or None),
        "baseUrl": base_url if base_url is not None or base is None else under.base_url,
        "compat": {**(under.compat or {}), **compat},
    }
    told = models_of(name, {**shared, "models": [_public(each) for each in field_of(data, "models", list, [])]})
    models = tuple({model.id.lower(): model for model in told}.values())  # of the same id the last counts
    if base is None and not models and not (shared["api"] and base_url):
        raise Wrong(f"no plugin knows provider {name!r}, so it needs baseUrl and api, or models that have them")
    join = _Join(base, base_url, compat, changes, models)
    return evolve(
        under,
        name=field_of(data, "name", str, under.name),
        api=shared["api"] or models[0].api,
        base_url=shared["baseUrl"] if shared["baseUrl"] is not None else models[0].base_url,
        key_variables=_variables(data) or under.key_variables,
        keyless=field_of(data, "keyless", bool, under.keyless),
        default_model=field_of(data, "defaultModel", str, under.default_model),
        compat=shared["compat"] or None,
        models=join if base is not None else models,
    )


@frozen(eq=False, repr=False)
class _Join(ReprMixin):
    """Joins the models when somebody looks: those of the plugin's table are read no sooner."""

    base: ProviderInfo | None
    base_url: str | None
    compat: dict[str, Any]
    overrides: dict[str, Callable[[Model], Model]]
    models: tuple[Model, ...]

    def __call__(self) -> tuple[Model, ...]:
        table = self.base.models if self.base is not None else ()
        joined = {model.id.lower(): self.changed(model) for model in table}
        joined.update({model.id.lower(): model for model in self.models})
        return tuple(joined.values())

    def changed(self, model: Model) -> Model:
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
            made[model_id] = override_of(_public(override))
        except Wrong as wrong:
            raise wrong.below("modelOverrides", model_id) from None
    return made


def _public(data: Any) -> Any:
    """Return a model's object without what is looked up for each request."""
    return {key: data[key] for key in data if key not in _PRIVATE} if isinstance(data, dict) else data


def _variables(data: Mapping[str, Any]) -> tuple[str, ...]:
    names = field_of(data, "keyVariables", list, [])
    if not all(isinstance(name, str) for name in names):
        raise Wrong("keyVariables must be a list of names of environment variables", "keyVariables")
    return tuple(names)
