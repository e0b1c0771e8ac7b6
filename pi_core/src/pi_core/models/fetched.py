"""What the user has fetched of models that are newer than the plugins' tables: data, which never says where to send.

``pi update --models`` writes it. It adds models to the rows of providers, and replaces names, windows, prices, thinking
levels and kinds of input of those that are there. Address, headers, API and quirks of a new model are those of the
listed model that it resembles.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from attrs import evolve

from pi_core.models.families import nearest_of_family
from pi_core.models.retirements import RETIREMENT, without_retirement
from pi_hookspecs import ModelCost
from pi_hookspecs.model_json import Wrong, override_of, retirements_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from pi_hookspecs import Model, ProviderInfo

__all__ = ["CURRENT", "FACTS", "FetchedModels"]

_T = TypeVar("_T")

CURRENT = "current.json"
"""The file that says what is in force; without it, nothing is.

``{"sources": {PACKAGE: {"version", "integrity"}}, "for": {PLUGIN: VERSION}, "files": {PROVIDER: {"path", "sha256"}},
"retirements": {PROVIDER: {"path", "sha256"}}}``. It counts for the tables of these versions of plugins, because those
of a later one are newer than what was fetched. Each of the files is ``{MODEL_ID: {"api": ..., fact: value}}``, with the
facts as in models.json; of the retirements ``{MODEL_ID: {"date": ..., "successor": ...}}``.
"""

FACTS = frozenset(
    {
        "name",
        "reasoning",
        "input",
        "cost",
        "contextWindow",
        "maxTokens",
        "thinkingLevelMap",
        "promptCache",
        "inputLimits",
    }
)
"""What is taken of a model; everything else is ignored."""


class FetchedModels:
    """The models in a folder.

    Args:
        folder: The folder; it need not exist.

    Attributes:
        problems: What is wrong with its files, one line each; a file with a problem is not used.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stated: dict[str, Any] | None = None
        self._rows: dict[str, tuple[ProviderInfo, ProviderInfo]] = {}
        self.problems: list[str] = []

    def row(self, info: ProviderInfo, plugin: str, version: str) -> ProviderInfo:
        """Return a provider's row with what was fetched of its models, which is read when they are.

        Args:
            info: The row of a plugin's table.
            plugin: The plugin.
            version: The plugin's version.
        """
        stated = self._state()
        is_there = any(info.id in stated.get(part, {}) for part in ("files", "retirements"))
        if not is_there or stated.get("for", {}).get(plugin) != version:
            return info
        known = self._rows.get(info.id)
        if known is None or known[0] is not info:
            known = self._rows[info.id] = info, _with_later(info, self._joined, self._retirements)
        return known[1]

    def _state(self) -> Mapping[str, Any]:
        if self._stated is None:
            file = self._folder / CURRENT
            try:
                found = json.loads(file.read_bytes())
                self._stated = {key: dict(found[key]) for key in ("for", "files")}
                self._stated["retirements"] = dict(found.get("retirements", {}))
            except (FileNotFoundError, NotADirectoryError):
                self._stated = {}
            except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
                self._stated = {}
                self._report(file, error)
        return self._stated

    def _report(self, file: Path, error: BaseException | str) -> None:
        self.problems.append(
            f"{file}: {error}. What was fetched of these models is not used; pi update --models fetches it again, and"
            " pi update --models --rollback goes back to what was there before."
        )

    def _joined(self, info: ProviderInfo) -> tuple[Model, ...]:
        ends = self._ends(info.id)
        models = self._with_facts(info)
        return tuple(_ending(each, ends[each.id]) if each.id in ends else each for each in models) if ends else models

    def _retirements(self, info: ProviderInfo) -> dict[str, dict[str, str]]:
        """Return when models that are not listed end."""
        listed = {each.id for each in self._with_facts(info)}
        return {name: end for name, end in {**info.retirements, **self._ends(info.id)}.items() if name not in listed}

    def _with_facts(self, info: ProviderInfo) -> tuple[Model, ...]:
        listed = info.all_models
        facts = self._read("files", info.id, _checked)
        if not facts:
            return listed
        known = {each.id for each in listed}
        changed = [
            _with_facts(each, facts[each.id]) if each.id in facts and each.type is None else each for each in listed
        ]
        new = (_new(model_id, facts[model_id], info) for model_id in sorted(facts.keys() - known))
        return (*changed, *(each for each in new if each is not None))

    def _ends(self, provider: str) -> dict[str, dict[str, str]]:
        return self._read("retirements", provider, _checked_ends)

    def _read(self, part: str, provider: str, check: Callable[[Any], dict[str, _T]]) -> dict[str, _T]:
        """Return what a file has, by model id; what is not valid is left out, and reported."""
        if provider not in self._state()[part]:
            return {}
        file = self._folder
        try:
            stated = self._state()[part][provider]
            file = self._folder / stated["path"]
            return check(_intact(file.read_bytes(), stated["sha256"]))
        except Wrong as wrong:
            self._report(file, f"{'.'.join(map(str, wrong.path))}: {wrong}")
        except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
            self._report(file, error)
        return {}


class _Facts(NamedTuple):
    """What was fetched of a model: the API that it has at the source, and a function that applies the facts."""

    api: object
    apply: Callable[[Model], Model]


class _Later(Generic[_T]):
    """Joins what is known of a provider when it is called; equal for the same row, so that comparing reads nothing."""

    def __init__(self, join: Callable[[ProviderInfo], _T], info: ProviderInfo) -> None:
        self._join = join
        self._info = info

    def __call__(self) -> _T:
        return self._join(self._info)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Later) and self._info is other._info

    def __hash__(self) -> int:
        return id(self._info)


def _with_later(
    info: ProviderInfo,
    models: Callable[[ProviderInfo], tuple[Model, ...]],
    retirements: Callable[[ProviderInfo], dict[str, dict[str, str]]],
) -> ProviderInfo:
    return evolve(info, models=_Later(models, info), retirements=_Later(retirements, info))


def _ending(model: Model, end: dict[str, str]) -> Model:
    return evolve(model, extra={**model.extra, RETIREMENT: end})


def _checked_ends(data: Any) -> dict[str, dict[str, str]]:
    """Return when models end.

    Raises:
        Wrong: One of them has a wrong form.
    """
    return retirements_of("", {"retirements": data})


def _intact(content: bytes, expected: str) -> Any:
    from hashlib import sha256

    if sha256(content).hexdigest() != expected:
        raise ValueError("it was changed after it was fetched")
    return json.loads(content)


def _checked(data: Any) -> dict[str, _Facts]:
    """Return the facts of each model.

    Raises:
        Wrong: One of them has a wrong form.
    """
    if not isinstance(data, dict):
        raise Wrong("it must be an object {MODEL_ID: {...}}")
    facts = {}
    for model_id, each in data.items():
        if not model_id or not isinstance(each, dict):
            raise Wrong("it must be an object {MODEL_ID: {...}}", model_id)
        try:
            apply = override_of({key: value for key, value in each.items() if key in FACTS})
        except Wrong as wrong:
            raise wrong.below(model_id) from None
        facts[model_id] = _Facts(each.get("api"), apply)
    return facts


def _with_facts(model: Model, facts: _Facts) -> Model:
    """Return a model with these facts and no older ones."""
    return facts.apply(evolve(model, reasoning=False, input=("text",), cost=ModelCost(), thinking_level_map=None))


def _new(model_id: str, facts: _Facts, info: ProviderInfo) -> Model | None:
    """Return a model that is not listed; None if nothing is known of how the provider serves its API."""
    alike: Iterable[Model] = [each for each in info.all_models if each.api == facts.api and each.type is None]
    relative = nearest_of_family(model_id, alike) or next(iter(alike), None)
    if relative is None and facts.api == info.api:
        relative = info.custom_model(model_id)
    if relative is None:
        return None
    return _with_facts(evolve(relative, id=model_id, name=model_id, extra=without_retirement(relative)), facts)
