"""Runs the subcommands."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pi_core.base.paths import home_dir
from pi_core.host.installers import is_offline
from pi_hookspecs import UserError, WrongUse
from pi_packages._arguments import parse_arguments
from pi_packages._asking import agree
from pi_packages._change import Change, Context, apply
from pi_packages._entries import Entry, project_scope, read_entries, run_scope, stored_text, user_scope, written_sources
from pi_packages._installers import Options
from pi_packages._output import print_json, print_lines, say
from pi_packages._sources import parse
from pi_packages._store import remove_old_runs

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping

    from pi_core.host import PluginHost
    from pi_packages._entries import Scope
    from pi_packages._plan import Plan
    from pi_packages._sources import Source

__all__ = ["run"]


def run(name: str, arguments: list[str], host: PluginHost) -> int:
    """Run a subcommand and return the exit code.

    Raises:
        PiError: It failed.
    """
    given = parse_arguments(name, arguments)
    if given is None:
        return 0
    command = " ".join([name, *arguments])
    if name in ("install", "remove", "uninstall", "sync"):
        function = {"install": _install, "sync": _sync}.get(name, _remove)
        return function(given, host, command)
    if name == "update":
        from pi_packages._updating import update

        return update(given, host, command)
    from pi_packages import _listing

    return int(getattr(_listing, f"run_{name}")(given, host))


def open_scope(given: Namespace, host: PluginHost, environ: Mapping[str, str] = os.environ) -> Scope:
    """Return the selected scope.

    Raises:
        UserError: It is the project's, which is not trusted.
    """
    agent_dir, home = host.settings.agent_dir.absolute(), home_dir(environ)
    if not given.local:
        return user_scope(agent_dir, home)
    cwd = Path.cwd()
    trust = host.settings.trust_of(cwd)
    if not trust.is_trusted:
        raise UserError(f"{trust.cwd} is not trusted ({trust.why}). Run pi trust first, or add -a before the command")
    return project_scope(agent_dir, cwd, home)


def open_context(given: Namespace, host: PluginHost, environ: Mapping[str, str] = os.environ) -> Context:
    """Return the context of a change."""
    settings = host.settings
    offline = bool(getattr(given, "offline", False)) or is_offline(environ)
    links = [*settings.get_str_list("packages.findLinks"), *getattr(given, "find_links", [])]
    options = Options(
        find_links=tuple(str(Path(each).expanduser().absolute()) if "://" not in each else each for each in links),
        index=settings.get_str("packages.index", None),
        offline=offline,
        allow_builds=settings.get_bool("packages.allowBuilds", default=False),
        min_age_days=settings.get_number("packages.minAgeDays", 0.0, minimum=0),
    )
    return Context(
        settings=settings,
        environ={**environ, "PI_OFFLINE": "1"} if offline else environ,
        options=options,
        say=say,
        agree=partial(agree, yes=bool(getattr(given, "yes", False)), quiet=given.json),
    )


def _install(given: Namespace, host: PluginHost, command: str) -> int:
    scope, context = open_scope(given, host), open_context(given, host)
    written = [*given.sources]
    for file in given.requirement:
        from pi_packages._requirement_files import sources_in

        written += sources_in(Path(file))
    if given.run:
        scope = run_scope(scope.agent_dir, written[0], scope.home)
        remove_old_runs(scope.agent_dir)
    if not written:
        return _nothing_named("install", "pi install SOURCE")
    entries = [_entry(text, scope, isolated=given.isolated) for text in written]
    upgrade = frozenset(each.source.identity for each in entries) if given.upgrade else frozenset()
    plan = apply(context, scope, Change(command=command, put=entries, upgrade=upgrade, dry_run=given.dry_run))
    if given.pin and plan.is_done and not given.dry_run:
        plan = _pin(context, scope, entries, command) or plan
    return report(plan, given, "Already installed")


def _nothing_named(name: str, usage: str) -> int:
    raise WrongUse(f"pi {name} needs the name of a package: {usage}. See pi {name} --help")


def _entry(text: str, scope: Scope, *, isolated: bool) -> Entry:
    source = parse(text, Path.cwd(), scope.home)
    stored = stored_text(source, text, scope)
    return Entry(source=source, written={"source": stored, "isolated": True} if isolated else stored)


def _pin(context: Context, scope: Scope, entries: list[Entry], command: str) -> Plan | None:
    """Pin the sources that were just installed to their exact versions."""
    from pi_packages._store import Store

    known = {each["identity"]: each for each in Store(scope.root).current().get("packages", ())}
    pinned: list[Source] = []
    for entry in entries:
        package = known.get(entry.source.identity, {})
        version = package.get("version") or package.get("revision")
        if version and not entry.source.is_pinned:
            pinned.append(entry.source.pinned_to(version))
    if not pinned:
        return None
    put = [Entry(source=each, written=each.text) for each in pinned]
    return apply(context, scope, Change(command=command, put=put))


def _remove(given: Namespace, host: PluginHost, command: str) -> int:
    scope, context = open_scope(given, host), open_context(given, host)
    entries, _ = read_entries(scope)
    known = {each.source.identity: each for each in entries}
    drop = [_identity_of(text, known, scope) for text in given.sources]
    plan = apply(context, scope, Change(command=command, drop=drop, dry_run=given.dry_run))
    code = report(plan, given, "Removed from the settings; it was not installed")
    if code == 0 and not given.dry_run and not given.json:
        _name_remaining_settings(plan, host)
    return code


def _identity_of(text: str, known: Mapping[str, Entry], scope: Scope) -> str:
    """Return the identity of an installed source; a path need not exist any more.

    Raises:
        UserError: It is not installed.
    """
    for identity, entry in known.items():
        if text in (identity, entry.source.text, entry.written, identity.partition(":")[2]):
            return identity
    try:
        identity = parse(text, Path.cwd(), scope.home).identity
    except UserError:
        identity = text
    if text in written_sources(scope):  # a path that is gone
        return text
    if identity not in known:
        raise UserError(f"{text!r} is not among the {scope.name}'s packages. pi list names them")
    return identity


def _name_remaining_settings(plan: Plan, host: PluginHost) -> None:
    names = {row.name.removeprefix("pluggypi-") for row in plan.rows if row.action == "remove"}
    remaining = sorted(names & {*host.settings.all()})
    for key in ("plugins.allow", "plugins.disabled", "plugins.order", "plugins.required"):
        remaining += [f"{key} ({name})" for name in sorted(names) if name in (host.settings.get(key) or ())]
    if remaining:
        say(f"Settings that remain: {', '.join(remaining)}. pi config unset and pi config set change them")


def _sync(given: Namespace, host: PluginHost, command: str) -> int:
    from pi_packages._syncing import sync_change

    scope, context = open_scope(given, host), open_context(given, host)
    change = sync_change(scope, context, given, command)
    if change is None:
        return report(None, given, "Everything is installed")
    return report(apply(context, scope, change), given, "Everything is installed")


def report(plan: Plan | None, given: Namespace, nothing: str) -> int:
    """Print what was done, and return the exit code."""
    rows = plan.rows if plan is not None else []
    if given.json:
        print_json({"changed": bool(rows) and not given.dry_run, "rows": [row.to_plain() for row in rows]})
    elif plan is None or plan.is_empty:
        print_lines(f"{nothing}.")
    elif not plan.is_done:
        print_lines("Nothing was changed.")
    else:
        print_lines(*(plan.lines() if given.dry_run else (row.line() for row in rows)))
    return 0 if plan is None or plan.is_done else 1
