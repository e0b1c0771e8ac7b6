"""``pi update --models``: fetches what is known of models today, and ``--rollback`` goes back to what was known before.

Of the packages of ``model_sources``, only facts about models and the days on which these end are kept
(``pi_core.models.fetched``): no address, header, name of a key, or command can come from them.
"""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from attrs import evolve

from pi_core.base.replacing import replace_file
from pi_core.models.fetched import CURRENT, FetchedModels
from pi_core.models.registry import FETCHED_MODELS
from pi_core.models.retirements import RETIREMENT, without_retirement
from pi_hookspecs import ProviderInfo, UserError
from pi_packages.log import now
from pi_packages.model_sources import FILES, RETIREMENTS, ByModel, Found, fetch, part_of, sources_of
from pi_packages.output import print_json, print_lines
from pi_packages.settings import MODEL_DATA
from pi_packages.store import Store

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Mapping, Sequence

    from pi_core.host import PluginHost
    from pi_hookspecs import Model
    from pi_packages.change import Context
    from pi_packages.entries import Scope
    from pi_packages.sources import Source

__all__ = ["roll_back_models", "update_models"]

_PREVIOUS = "previous.json"
"""What was in force before; ``null`` if nothing was."""

_ROLLED_BACK = "rolled-back"
"""The integrity of what the user has rolled back, which is not put in force again in the background."""

_HOOK = "register_models"
_SHOWN = 20
"""New models that are named; of more, the number is printed."""

_MONTH_DAYS = 30
"""How long a large package is not fetched again in the background: LiteLLM's wheel has 44 MB."""


def update_models(given: Namespace, scope: Scope, context: Context, host: PluginHost) -> int:
    """Fetch facts about models, put them in force, and print what is new; return the exit code: 1 if a package failed.

    Raises:
        UserError: They cannot be fetched or read; nothing was changed.
    """
    sources = sources_of(MODEL_DATA.read(host.settings), Path.cwd(), scope.home)
    if not sources:
        return 0
    folder = context.agent_dir / FETCHED_MODELS
    with Store(scope.root).locked(context.say), TemporaryDirectory(prefix="models-", dir=_made(folder)) as name:
        draft, before = Path(name), _stated(folder / CURRENT)
        due = [each for each in sources if not (given.in_background and _is_recent(each, before))]
        found, failed = _fetched(due, context, draft)
        known = {provider: _known(host, provider) for each in found for provider in each.known}
        served = {provider: info for provider, info in known.items() if info is not None}
        if found and not served:
            names = ", ".join(each.source for each in found)
            raise UserError(f"{names} has no model of a provider that an installed plugin adds")
        current, key = _drafted(draft, found, served, before, folder)
        if not found or (given.in_background and current["integrity"] == _rolled_back(folder)):
            return 0
        (draft / CURRENT).write_text(json.dumps(current), encoding="utf-8")
        providers = {*current[FILES], *current[RETIREMENTS]}
        rows = {each: info for each in sorted(providers) if (info := _known(host, each)) is not None}
        news = _News.between(folder, draft, rows)
        if news.is_any and not (given.dry_run or given.check):
            _put_in_force(folder, draft, key)
            (folder / _ROLLED_BACK).unlink(missing_ok=True)
    _print(given, ", ".join(f"{each.source} {each.version}" for each in found), current["integrity"], news)
    for reason in failed:
        context.say(f"Warning: {reason}")
    return 1 if failed else 0


def _fetched(sources: Sequence[Source], context: Context, draft: Path) -> tuple[list[Found], list[str]]:
    """Return what the packages say, and why others cannot be fetched or read.

    Raises:
        UserError: None of them can be.
    """
    found, failed = [], []
    for source in sources:
        try:
            found.append(fetch(source, context, draft))
        except UserError as error:
            failed.append(str(error))
    if failed and not found:
        raise UserError("; ".join(failed))
    return found, failed


def _drafted(
    draft: Path, found: Sequence[Found], served: Mapping[str, _Known], before: Mapping[str, Any] | None, folder: Path
) -> tuple[dict[str, Any], str]:
    """Write what was found into the draft; return what is to be in force, and the name of the folder of the new files.

    What another package said before stays, if it was for the tables of the same plugins.
    """
    key = sha256(json.dumps([each.known for each in found], sort_keys=True).encode()).hexdigest()[:16]
    versions = {plugin: version for _, plugin, version in served.values()}
    kept = before or {}
    if any(versions.get(plugin, version) != version for plugin, version in kept.get("for", {}).items()):
        kept = {}
    new = {each.part for each in found}
    parts: dict[str, dict[str, Any]] = {
        part: {} if part in new else _copied(kept.get(part, {}), folder, draft / key) for part in (FILES, RETIREMENTS)
    }
    sources = {name: each for name, each in kept.get("sources", {}).items() if parts[each["part"]]}
    for each in found:
        for provider in sorted(each.known.keys() & served.keys()):
            name = provider if each.part == FILES else f"{provider}-{each.part}"
            parts[each.part][provider] = _stored(draft / key, name, each.known[provider])
        sources[each.source] = {
            "version": each.version,
            "integrity": each.integrity,
            "part": each.part,
            "fetched": now(),
        }
    integrity = " ".join(sorted({each["integrity"] for each in sources.values()}))
    return {
        "fetched": now(),
        "integrity": integrity,
        "sources": sources,
        "for": {**kept.get("for", {}), **versions},
        **parts,
    }, key


def _copied(files: Mapping[str, Any], folder: Path, draft: Path) -> dict[str, Any]:
    """Copy files that stay into the draft; one that was changed or removed does not."""
    copied = {}
    for provider, stated in files.items():
        with suppress(OSError):
            content = (folder / stated["path"]).read_bytes()
            if sha256(content).hexdigest() == stated["sha256"]:
                name = Path(stated["path"]).name
                (_made(draft) / name).write_bytes(content)
                copied[provider] = {**stated, "path": f"{draft.name}/{name}"}
    return copied


def _is_recent(source: Source, before: Mapping[str, Any] | None) -> bool:
    """Whether a package that is large was fetched within a month."""
    fetched = (before or {}).get("sources", {}).get(source.text, {}).get("fetched")
    if part_of(source) == FILES or fetched is None:
        return False
    return datetime.fromisoformat(fetched) > datetime.now(UTC) - timedelta(days=_MONTH_DAYS)


def roll_back_models(context: Context, scope: Scope) -> int:
    """Put the facts in force that were before; return the exit code.

    Raises:
        UserError: Nothing was fetched.
    """
    folder = context.agent_dir / FETCHED_MODELS
    with Store(scope.root).locked(context.say):
        current, previous = folder / CURRENT, folder / _PREVIOUS
        before, undone = _stated(previous), _stated(current)
        if not current.exists() and before is None:
            raise UserError("There is nothing to restore: no models were fetched with pi update --models")
        if before is None:
            current.unlink(missing_ok=True)
            print_lines("The models are those of the installed plugins again.")
        else:
            replace_file(current, json.dumps(before).encode())
            print_lines(f"The models are those that were fetched on {before['fetched']} again.")
        previous.unlink(missing_ok=True)
        if undone is not None:
            replace_file(folder / _ROLLED_BACK, undone["integrity"].encode())
        _remove_others(folder)
    return 0


def _rolled_back(folder: Path) -> str:
    with suppress(OSError, UnicodeDecodeError):
        return (folder / _ROLLED_BACK).read_text(encoding="utf-8")
    return ""


def _made(folder: Path) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


_Known = tuple[ProviderInfo, str, str]


def _known(host: PluginHost, provider: str) -> _Known | None:
    """Return the row of a plugin's table, with the plugin and its version."""
    found = host.find(_HOOK, provider)
    if found is None or not isinstance(found.thing, ProviderInfo) or found.plugin not in host.records:
        return None
    return found.thing, found.plugin, host.records[found.plugin].version


def _stored(folder: Path, name: str, known: ByModel) -> dict[str, str]:
    content = json.dumps(known, ensure_ascii=False, separators=(",", ":")).encode()
    _made(folder)
    (folder / f"{name}.json").write_bytes(content)
    return {"path": f"{folder.name}/{name}.json", "sha256": sha256(content).hexdigest()}


def _put_in_force(folder: Path, draft: Path, key: str) -> None:
    current = folder / CURRENT
    before, after = _stated(current), _stated(draft / CURRENT)
    for file in (draft / key).iterdir():  # also those that are there: they may have been changed or removed
        file.replace(_made(folder / key) / file.name)
    if before is None or after is None or _parts(before) != _parts(after):
        replace_file(folder / _PREVIOUS, json.dumps(before).encode())
    replace_file(current, (draft / CURRENT).read_bytes())
    _remove_others(folder, draft.name)


def _stated(file: Path) -> dict[str, Any] | None:
    """Return what a file says is in force; None if it says that nothing is, or was damaged."""
    try:
        found = json.loads(file.read_bytes())
        texts = {key: str(found[key]) for key in ("fetched", "integrity")}
        return {**found, **texts, FILES: {**found[FILES]}, RETIREMENTS: {**found[RETIREMENTS]}}
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _parts(stated: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [stated.get(part, {}) for part in (FILES, RETIREMENTS)]


def _remove_others(folder: Path, *kept: str) -> None:
    """Remove the files that are neither in force nor were before."""
    named = {*kept}
    for stated in (_stated(folder / CURRENT), _stated(folder / _PREVIOUS)):
        for files in _parts(stated or {}):
            named |= {each["path"].partition("/")[0] for each in files.values()}
    for each in folder.iterdir():
        if each.is_dir() and each.name not in named:
            shutil.rmtree(each, ignore_errors=True)


class _News:
    """What is different from what is in force.

    Args:
        new: References of models that are not known yet.
        changed: References of models of which something else changes.
        ending: References of models, also of those that are not listed, of which it is new when they end.
    """

    def __init__(self, new: list[str], changed: list[str], ending: list[str]) -> None:
        self.new = new
        self.changed = changed
        self.ending = ending

    @classmethod
    def between(cls, folder: Path, draft: Path, served: Mapping[str, _Known]) -> _News:
        seen = [list(_rows(FetchedModels(each), served)) for each in (folder, draft)]
        before, after = ({each.reference: each for row in rows for each in row.all_models} for rows in seen)
        new = [each for each in after if each not in before]
        changed = [each for each in after if each in before and _else(after[each]) != _else(before[each])]
        ended, ending = (dict(each for row in rows for each in _ends(row)) for rows in seen)
        return cls(new, changed, [each for each in ending if ending[each] != ended.get(each)])

    @property
    def is_any(self) -> bool:
        return bool(self.new or self.changed or self.ending)


def _rows(fetched: FetchedModels, served: Mapping[str, _Known]) -> Iterator[ProviderInfo]:
    for info, plugin, version in served.values():
        yield fetched.row(info, plugin, version)


def _else(model: Model) -> Model:
    return evolve(model, extra=without_retirement(model))


def _ends(row: ProviderInfo) -> Iterator[tuple[str, Any]]:
    for model in row.all_models:
        if RETIREMENT in model.extra:
            yield model.reference, model.extra[RETIREMENT]
    for model_id, end in row.retirements.items():
        yield f"{row.id}/{model_id}", end


def _print(given: Namespace, name: str, integrity: str, news: _News) -> None:
    if given.json:
        different = {"new": news.new, "changed": news.changed, "ending": news.ending}
        print_json({"source": name, "integrity": integrity, **different})
        return
    if not news.is_any:
        print_lines(f"{name}: nothing is newer than what pi knows.")
        return
    more = len(news.new) - _SHOWN
    print_lines(
        f"{name}: new models: {len(news.new)}; with other names, limits, levels or prices: {len(news.changed)}; with"
        f" another day of retirement: {len(news.ending)}.",
        *news.new[:_SHOWN],
        *([f"... and {more} more"] if more > 0 else []),
    )
