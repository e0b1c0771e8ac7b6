"""The read-only commands ``pi list``, ``doctor``, ``search`` and ``info``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_core.base.paths import home_dir
from pi_packages.entries import project_scope, read_entries, user_scope
from pi_packages.output import print_json, print_lines
from pi_packages.store import Store

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from pi_core.host import PluginHost
    from pi_packages.entries import Scope

__all__ = ["run_doctor", "run_info", "run_list", "run_search", "scopes_of"]


def scopes_of(host: PluginHost, *, local_only: bool = False) -> list[Scope]:
    """Return the user's scope, and the current project's if it is trusted."""
    agent_dir, home, cwd = host.settings.agent_dir.absolute(), home_dir(os.environ), Path.cwd()
    scopes = [] if local_only else [user_scope(agent_dir, home)]
    if host.settings.trust_of(cwd).is_trusted:
        scopes.append(project_scope(agent_dir, cwd, home))
    return scopes


def run_list(given: Namespace, host: PluginHost) -> int:
    """Print what is installed."""
    scopes = scopes_of(host, local_only=given.local)
    if given.history:
        rows = [row for scope in scopes for row in _history(scope)]
        lines = [
            f"{'*' if row['current'] else ' '} {row['created']}  {row['scope']:8}{row['command']}: "
            f"{', '.join(row['packages']) or 'nothing'}"
            for row in rows
        ]
    else:
        rows = [row for scope in scopes for row in _packages(scope, host)]
        rows += [] if given.local else list(_environment(host))
        lines = [_line(row) for row in rows]
    if given.json:
        print_json(rows)
    else:
        print_lines(*(lines or ["No packages are installed."]))
    return 0


def _line(row: dict[str, Any]) -> str:
    version = row["version"] or "-"
    state = "" if row["state"] == "installed" else f"  {row['state']}"
    pinned = "  pinned" if row["pinned"] else ""
    return f"{row['scope']:12}{row['name']} {version}  {row['source']}{pinned}{state}"


def _packages(scope: Scope, host: PluginHost) -> Iterator[dict[str, Any]]:
    entries, _ = read_entries(scope)
    installed = {each["identity"]: each for each in Store(scope.root).current().get("packages", ())}
    for entry in entries:
        package = installed.pop(entry.source.identity, None)
        yield _row(scope.name, entry.source.text, package, host, pinned=entry.source.is_pinned)
    for package in installed.values():
        yield {**_row(scope.name, package["source"], package, host), "state": "not in the settings; pi sync removes it"}


def _row(
    scope: str, source: str, package: dict[str, Any] | None, host: PluginHost, *, pinned: bool = False
) -> dict[str, Any]:
    plugins = list((package or {}).get("plugins", {}))
    failing = [name for name in plugins if name in host.records and not host.records[name].loads]
    disabled = [name for name in plugins if name in host.disabled]
    state = "installed"
    if package is None:
        state = "missing; pi sync installs it"
    elif failing:
        state = f"not loaded: {', '.join(failing)} (pi plugins shows why)"
    elif disabled:
        state = f"disabled: {', '.join(disabled)}"
    return {
        "scope": scope,
        "name": (package or {}).get("name") or source,
        "source": source,
        "version": (package or {}).get("version") or ((package or {}).get("revision") or "")[:12] or None,
        "pinned": pinned,
        "state": state,
        "plugins": plugins,
        "resources": sorted((package or {}).get("resources", {})),
    }


def _environment(host: PluginHost) -> Iterator[dict[str, Any]]:
    """Yield the plugins of pi's environment that do not belong to pi."""
    from importlib.metadata import PackageNotFoundError, distribution

    from pi_core.host.overlay import stable_path

    for record in host.records.values():
        try:
            folder = os.path.normpath(str(distribution(record.distribution).locate_file("")))
        except PackageNotFoundError:
            continue
        if not record.is_default and stable_path(folder) == folder:
            yield {
                "scope": "environment",
                "name": record.distribution,
                "source": f"pypi:{record.distribution}",
                "version": record.version,
                "pinned": False,
                "state": "installed" if record.loads else "not loaded (pi plugins shows why)",
                "plugins": [record.name],
                "resources": [],
            }


def _history(scope: Scope) -> Iterator[dict[str, Any]]:
    store = Store(scope.root)
    current = store.current().get("id")
    for each in store.history():
        names = [
            f"{package.get('name') or package['source']} {package.get('version') or ''}".strip()
            for package in each["packages"]
        ]
        yield {
            "scope": scope.name,
            "id": each["id"],
            "created": each["created"],
            "command": each["command"],
            "packages": names,
            "current": each["id"] == current,
        }


def run_search(given: Namespace, host: PluginHost) -> int:
    """Print the matching entries of the catalogue; return 1 if there are none."""
    from pi_packages.catalogue import catalogue, find

    found = find(given.words, catalogue(host.settings))
    if given.json:
        print_json(found)
    else:
        print_lines(*(f"{each['name']}  {each['source']}  {each.get('description', '')}" for each in found))
        if not found:
            print_lines(
                "Nothing in the catalogue matches these words. pi install pypi:NAME installs packages that it does "
                "not list."
            )
    return 0 if found else 1


def run_info(given: Namespace, host: PluginHost) -> int:
    """Describe packages; return 1 if one is not known."""
    from pi_packages.catalogue import catalogue

    rows = [row for scope in scopes_of(host) for row in _packages(scope, host)]
    rows += list(_environment(host))
    found = []
    for word in given.words:
        names = {word, f"pluggypi-{word}"}
        mine = [
            row
            for row in rows
            if names & {row["name"], row["source"], row["source"].partition(":")[2], *row["plugins"]}
        ]
        listed = [each for each in catalogue(host.settings) if names & {each["name"], each["source"]}]
        found += [{**_details(row, host), **row} for row in mine] or listed
    if given.json:
        print_json(found)
    else:
        for each in found:
            print_lines(*(f"{key}: {_text(value)}" for key, value in each.items() if value not in (None, [], {})), "")
    if not found:
        print_lines(f"Neither installed nor in the catalogue: {', '.join(given.words)}")
    return 0 if found else 1


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return "; ".join(f"{key}: {_text(each)}" for key, each in value.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _details(row: dict[str, Any], host: PluginHost) -> dict[str, Any]:
    for scope in scopes_of(host):
        for package in Store(scope.root).current().get("packages", ()):
            if package["source"] == row["source"]:
                keys = ("grants", "publisher", "revision", "notes")
                return {key: package[key] for key in keys if package.get(key)}
    return {}


def run_doctor(given: Namespace, host: PluginHost) -> int:
    """Print problems with their remedies; return 1 if one is an error."""
    if given.original:
        from pi_packages.original import differences as checks
    else:
        from pi_packages.doctor import checks

    rows = list(checks(host))
    if given.json:
        print_json(rows)
    else:
        signs = {"ok": "ok     ", "note": "note   ", "warning": "warning", "error": "error  "}
        for row in rows:
            print_lines(f"{signs[row['state']]} {row['check']}: {row['message']}")
            if row["remedy"]:
                print_lines(f"        {row['remedy']}")
    return 1 if any(row["state"] == "error" for row in rows) else 0
