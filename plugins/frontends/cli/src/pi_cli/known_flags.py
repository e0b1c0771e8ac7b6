"""Cache of options that are known only at run time: of local extensions, and of ``pi.register_flag`` in ``activate``.

``pi --help`` without ``-e``, and completion, do not run plugins' code, which may be slow, hang, or need packages
installed. So each run writes these options to the agent directory's cache, from which they are read.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_cli.extensions import FLAGS, added_records, flag_records
from pi_core import PluginRecord, replace_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pi_core import PluginHost
    from pi_core.host.extensions.places import ExtensionSource
    from pi_hookspecs import Flag

__all__ = ["recall", "remember"]


def remember(host: PluginHost, activated: Mapping[str, Iterable[Flag]]) -> None:
    """Write the options of a run to the cache; a folder that cannot be written is not an error.

    Args:
        host: The plugins.
        activated: The options that each plugin registered in ``activate``.
    """
    records = [
        *added_records(host, FLAGS),
        *flag_records((name, flag) for name, flags in activated.items() for flag in flags),
    ]
    described: dict[str, list[dict[str, Any]]] = {}
    for record in records:
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
    """Return the cached options by plugin, and the extensions that no run has used yet.

    Args:
        host: The plugins; of the installed ones only those in an up-to-date index are used.
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
    """Return the cache key of a local extension: projects may have different ones of one name."""
    return str((source.path or Path()).resolve())


def _is_local(key: str) -> bool:
    return Path(key).is_absolute()


def _file(host: PluginHost) -> Path:
    return host.settings.agent_dir / "cache" / "flags.json"


def _read(file: Path) -> dict[str, list[dict[str, Any]]]:
    try:
        stored = json.loads(file.read_bytes())
        return {str(key): [*_usable(flags)] for key, flags in stored.items()}
    except (OSError, ValueError, AttributeError, TypeError):  # missing, or with other content
        return {}


def _usable(flags: Iterable[Any]) -> Iterator[dict[str, Any]]:
    types = {"name": str, "type": str, "description": str}
    for flag in flags:
        if isinstance(flag, dict) and all(isinstance(flag.get(name), kind) for name, kind in types.items()):
            yield {"default": None, **flag}


def _write(file: Path, known: dict[str, list[dict[str, Any]]]) -> None:
    with suppress(OSError, TypeError):  # TypeError: a default that is not JSON
        text = json.dumps(known)
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, text.encode(), durable=False)
