"""``pi update --models``: fetches what is known of models today, and ``--rollback`` goes back to what was known before.

The user's own npm fetches the original's library, whose hash npm compares with that of the registry. Of it, only facts
about models are kept (``pi_core.models.fetched``): no address, header, name of a key, or command can come from it.
"""

from __future__ import annotations

import json
import shutil
import tarfile
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from pi_core.base.replacing import replace_file
from pi_core.models.fetched import CURRENT, FACTS, FetchedModels
from pi_core.models.registry import FETCHED_MODELS
from pi_core.models.renamed import RENAMED
from pi_hookspecs import ProviderInfo, UserError
from pi_hookspecs.model_json import Wrong, override_of
from pi_packages.log import now
from pi_packages.model_facts import convert_original, read_library
from pi_packages.npm import fetch_tarball
from pi_packages.output import print_json, print_lines
from pi_packages.settings import MODEL_DATA
from pi_packages.sources import parse
from pi_packages.store import Store

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Mapping

    from pi_core.host import PluginHost
    from pi_hookspecs import Model
    from pi_packages.change import Context
    from pi_packages.entries import Scope

__all__ = ["roll_back_models", "update_models"]

_PREVIOUS = "previous.json"
"""What was in force before; ``null`` if nothing was."""

_ROLLED_BACK = "rolled-back"
"""The integrity of what the user has rolled back, which is not put in force again in the background."""

_HOOK = "register_models"
_SHOWN = 20
"""New models that are named; of more, the number is printed."""

Facts = dict[str, dict[str, Any]]


def update_models(given: Namespace, scope: Scope, context: Context, host: PluginHost) -> int:
    """Fetch facts about models, put them in force, and print what is new; return the exit code.

    Raises:
        UserError: They cannot be fetched or read; nothing was changed.
    """
    written = MODEL_DATA.read(host.settings)
    if not written:
        return 0
    source = parse(written, Path.cwd(), scope.home)
    if source.kind != "npm":
        raise UserError(f"packages.modelData must be an npm package, as npm:NAME, not {written!r}")
    folder = context.agent_dir / FETCHED_MODELS
    with Store(scope.root).locked(context.say), TemporaryDirectory(prefix="models-", dir=_made(folder)) as name:
        draft = Path(name)
        tarball, integrity = fetch_tarball(source, context, draft)
        if given.in_background and integrity == _rolled_back(folder):
            return 0
        version, facts = _facts_in(tarball, source.text)
        tarball.unlink()
        known = {each: _known(host, each) for each in facts}
        served = {each: info for each, info in known.items() if info is not None}
        if not served:
            raise UserError(f"{source.text} has no model of a provider that an installed plugin adds")
        key = sha256(json.dumps({each: facts[each] for each in sorted(served)}).encode()).hexdigest()[:16]
        current = {
            "fetched": now(),
            "source": source.text,
            "version": version,
            "integrity": integrity,
            "for": {plugin: version for _, plugin, version in served.values()},
            "files": {each: _stored(draft / key, each, facts[each]) for each in sorted(served)},
        }
        (draft / CURRENT).write_text(json.dumps(current), encoding="utf-8")
        news = _News.between(folder, draft, served)
        if news.is_any and not (given.dry_run or given.check):
            _put_in_force(folder, draft, key)
            (folder / _ROLLED_BACK).unlink(missing_ok=True)
    _print(given, f"{source.text} {version}", integrity, news)
    return 0


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


def _facts_in(tarball: Path, name: str) -> tuple[str, dict[str, Facts]]:
    """Return the version, and the facts of models for conversations by provider and model id.

    Raises:
        UserError: They cannot be read.
    """
    found: dict[str, Facts] = {}
    try:
        library = read_library(tarball)
        for theirs, groups in library.providers.items():
            models = [each for group in groups.values() for each in group.values() if each["type"] == "chat"]
            facts = {each["id"]: _facts_of(convert_original(each)) for each in models}
            if facts:
                found[RENAMED.get(theirs, theirs)] = facts
    except (OSError, tarfile.TarError, EOFError) as error:
        raise UserError(f"{name} cannot be unpacked: {error}") from error
    except (KeyError, TypeError, ValueError, AttributeError, Wrong) as error:
        reason = f"there is no {error}" if isinstance(error, KeyError) else error
        raise UserError(
            f"{name} has data about models that this version of pi cannot read ({reason}). Nothing was changed; pi"
            " update may bring a version that can"
        ) from error
    if not found:
        raise UserError(f"{name} has no data about models. Nothing was changed")
    return library.version, found


def _facts_of(model: Mapping[str, Any]) -> dict[str, Any]:
    facts = {key: value for key, value in model.items() if key in FACTS}
    override_of(facts)
    return {"api": str(model["api"]), **facts}


_Known = tuple[ProviderInfo, str, str]


def _known(host: PluginHost, provider: str) -> _Known | None:
    """Return the row of a plugin's table, with the plugin and its version."""
    found = host.find(_HOOK, provider)
    if found is None or not isinstance(found.thing, ProviderInfo) or found.plugin not in host.records:
        return None
    return found.thing, found.plugin, host.records[found.plugin].version


def _stored(folder: Path, provider: str, facts: Facts) -> dict[str, str]:
    content = json.dumps(facts, ensure_ascii=False, separators=(",", ":")).encode()
    _made(folder)
    (folder / f"{provider}.json").write_bytes(content)
    return {"path": f"{folder.name}/{provider}.json", "sha256": sha256(content).hexdigest()}


def _put_in_force(folder: Path, draft: Path, key: str) -> None:
    current = folder / CURRENT
    before, after = _stated(current), _stated(draft / CURRENT)
    for file in (draft / key).iterdir():  # also those that are there: they may have been changed or removed
        file.replace(_made(folder / key) / file.name)
    if before is None or after is None or before["files"] != after["files"]:
        replace_file(folder / _PREVIOUS, json.dumps(before).encode())
    replace_file(current, (draft / CURRENT).read_bytes())
    _remove_others(folder, draft.name)


def _stated(file: Path) -> dict[str, Any] | None:
    """Return what a file says is in force; None if it says that nothing is, or was damaged."""
    try:
        found = json.loads(file.read_bytes())
        texts = {key: str(found[key]) for key in ("fetched", "integrity")}
        return {**found, **texts, "files": {**found["files"]}}
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _remove_others(folder: Path, *kept: str) -> None:
    """Remove the files that are neither in force nor were before."""
    named = {*kept}
    for stated in (_stated(folder / CURRENT), _stated(folder / _PREVIOUS)):
        named |= {each["path"].partition("/")[0] for each in (stated["files"] if stated is not None else {}).values()}
    for each in folder.iterdir():
        if each.is_dir() and each.name not in named:
            shutil.rmtree(each, ignore_errors=True)


class _News:
    """What is different from what is in force.

    Args:
        new: References of models that are not known yet.
        changed: References of models of which something changes.
    """

    def __init__(self, new: list[str], changed: list[str]) -> None:
        self.new = new
        self.changed = changed

    @classmethod
    def between(cls, folder: Path, draft: Path, served: Mapping[str, _Known]) -> _News:
        before, after = (dict(_models(FetchedModels(each), served)) for each in (folder, draft))
        new = [each for each in after if each not in before]
        return cls(new, [each for each in after if each in before and after[each] != before[each]])

    @property
    def is_any(self) -> bool:
        return bool(self.new or self.changed)


def _models(fetched: FetchedModels, served: Mapping[str, _Known]) -> Iterator[tuple[str, Model]]:
    for info, plugin, version in served.values():
        for model in fetched.row(info, plugin, version).all_models:
            yield model.reference, model


def _print(given: Namespace, name: str, integrity: str, news: _News) -> None:
    if given.json:
        print_json({"source": name, "integrity": integrity, "new": news.new, "changed": news.changed})
        return
    if not news.is_any:
        print_lines(f"{name}: nothing is newer than what pi knows.")
        return
    more = len(news.new) - _SHOWN
    print_lines(
        f"{name}: new models: {len(news.new)}; with other names, limits, levels or prices: {len(news.changed)}.",
        *news.new[:_SHOWN],
        *([f"... and {more} more"] if more > 0 else []),
    )
