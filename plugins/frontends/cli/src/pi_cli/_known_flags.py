"""Options that only a run learns of: of local extensions, and of ``pi.register_flag`` in ``activate``.

``pi --help`` and completion run nobody's code, which may be slow, hang, or want packages installed. So each run leaves
in the agent directory's cache what it learned, for them to read.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_cli._extensions import FLAGS, added_flags, flag_records
from pi_core.host.records import PluginRecord

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pi_core.host import PluginHost
    from pi_core.host.extensions.places import ExtensionSource
    from pi_hookspecs import Flag

__all__ = ["recall", "remember"]


def remember(host: PluginHost, activated: Mapping[str, Iterable[Flag]]) -> None:
    """Leave the options that a run has learned of; a folder that cannot be written is no error.

    Args:
        host: Whose plugins.
        activated: What each plugin registered when it was activated.
    """
    told = [*added_flags(host), *flag_records((name, flag) for name, flags in activated.items() for flag in flags)]
    described: dict[str, list[dict[str, Any]]] = {}
    for record in told:
        described.setdefault(record.name, []).extend(record.registers[FLAGS])
    sources = host.extensions.sources if host.extensions is not None else {}
    keys = {name: _key(source) for name, source in sources.items() if source.path is not None}
    keys |= {name: name for name in activated if name in host.records}
    file = _file(host)
    known = _read(file)
    learned = known | {key: described.get(name, []) for name, key in keys.items()}
    now = {key: flags for key, flags in learned.items() if flags or _is_local(key)}
    if now != known:
        _write(file, {key: flags for key, flags in now.items() if not _is_local(key) or Path(key).exists()})


def recall(host: PluginHost, sources: Sequence[ExtensionSource]) -> tuple[list[PluginRecord], list[str]]:
    """Return the options that runs have learned of, by plugin, and the extensions that none has used yet.

    Args:
        host: Whose plugins; of its own only those count that an index up to date knows.
        sources: The local extensions that a run would use now.
    """
    known = _read(_file(host))
    keys = {each.name: each.name for each in host.indexed()}
    keys |= {each.name: _key(each) for each in sources if each.path is not None and each.name not in host.disabled}
    records = [
        PluginRecord(name, "", "", "", registers={FLAGS: known[key]}) for name, key in keys.items() if known.get(key)
    ]
    return records, [name for name, key in keys.items() if _is_local(key) and key not in known]


def _key(source: ExtensionSource) -> str:
    """Return what a local extension is remembered by: projects may have different ones of one name."""
    return str((source.path or Path()).resolve())


def _is_local(key: str) -> bool:
    return Path(key).is_absolute()


def _file(host: PluginHost) -> Path:
    return host.settings.agent_dir / "cache" / "flags.json"


def _read(file: Path) -> dict[str, list[dict[str, Any]]]:
    try:
        stored = json.loads(file.read_bytes())
        return {str(key): [*_usable(flags)] for key, flags in stored.items()}
    except (OSError, ValueError, AttributeError, TypeError):  # missing, or somebody wrote something else there
        return {}


def _usable(flags: Iterable[Any]) -> Iterator[dict[str, Any]]:
    wanted = {"name": str, "type": str, "description": str}
    for flag in flags:
        if isinstance(flag, dict) and all(isinstance(flag.get(name), kind) for name, kind in wanted.items()):
            yield {"default": None, **flag}


def _write(file: Path, known: dict[str, list[dict[str, Any]]]) -> None:
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    with suppress(OSError, TypeError):  # TypeError: a default that JSON cannot hold
        text = json.dumps(known)
        file.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(text, encoding="utf-8")
        draft.replace(file)
