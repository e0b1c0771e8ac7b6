"""Runs the subcommands."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pi_core.base.paths import expand_home, home_dir
from pi_core.host.installers import is_offline
from pi_hookspecs import UserError, WrongUse
from pi_packages.arguments import parse_arguments
from pi_packages.asking import agree, agree_to_build
from pi_packages.change import Change, Context, apply
from pi_packages.entries import Entry, project_scope, run_scope, stored_text, user_scope
from pi_packages.examples import copied, source_of
from pi_packages.installers import Options
from pi_packages.naming import find_identity
from pi_packages.output import print_json, print_lines, say
from pi_packages.settings import ALLOW_BUILDS, FIND_LINKS, INDEX, MIN_AGE_DAYS
from pi_packages.sources import parse
from pi_packages.store import remove_old_runs

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping

    from pi_core.host import PluginHost
    from pi_packages.entries import Scope
    from pi_packages.plan import Plan
    from pi_packages.sources import Source

__all__ = ["run"]


def run(name: str, arguments: list[str], host: PluginHost) -> int:
    """Run a subcommand and return the exit code.

    Raises:
        PiError: It failed.
    """
    given = parse_arguments(name, arguments)
    if given is None:
        return 0
    if getattr(given, "approve", None) is not None:
        host = _with_trust(host, is_trusted=given.approve)
    host.declare_settings(host.settings)  # before any is read: a project may not set most of them
    command = " ".join([name, *arguments])
    if name in ("install", "remove", "uninstall", "sync"):
        function = {"install": _install, "sync": _sync}.get(name, _remove)
        return function(given, host, command)
    if name == "update":
        from pi_packages.updating import update

        return update(given, host, command)
    from pi_packages import listing

    return int(getattr(listing, f"run_{name}")(given, host))


def _with_trust(host: PluginHost, *, is_trusted: bool) -> PluginHost:
    """Return the plugins and settings with a decision about this folder that counts for this command alone."""
    from pi_core.host import PluginHost
    from pi_core.settings import Settings
    from pi_core.settings.trust import ProjectTrust

    why = "--approve was given" if is_trusted else "--no-approve was given"
    trust = ProjectTrust.given(Path.cwd(), is_trusted=is_trusted, why=why)
    return PluginHost(Settings.load(Path.cwd(), host.settings.agent_dir, trust=trust), disabled=sorted(host.disabled))


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
        raise UserError(
            f"{trust.cwd} is not trusted ({trust.why}). Run pi trust first, or add --approve for this command"
        )
    return project_scope(agent_dir, cwd, home)


def open_context(given: Namespace, host: PluginHost, environ: Mapping[str, str] = os.environ) -> Context:
    """Return the context of a change."""
    settings = host.settings
    offline = bool(getattr(given, "offline", False)) or is_offline(environ)
    links = [*FIND_LINKS.read(settings), *getattr(given, "find_links", []), *_links_of(environ)]
    options = Options(
        find_links=tuple(dict.fromkeys(_absolute(each) for each in links)),
        index=INDEX.read(settings),
        offline=offline,
        allow_builds=ALLOW_BUILDS.read(settings),
        min_age_days=MIN_AGE_DAYS.read(settings),
    )
    return Context(
        settings=settings,
        environ={**environ, "PI_OFFLINE": "1"} if offline else environ,
        options=options,
        say=say,
        agree=partial(agree, yes=bool(getattr(given, "yes", False)), quiet=given.json),
        agree_to_build=partial(agree_to_build, yes=bool(getattr(given, "yes", False))),
    )


def _links_of(environ: Mapping[str, str]) -> list[str]:
    """Return the folders of wheels in the variables of uv and pip, which an option ``--find-links`` would replace."""
    return [
        *filter(None, environ.get("UV_FIND_LINKS", "").split(",")),
        *environ.get("PIP_FIND_LINKS", "").split(),
    ]


def _absolute(link: str) -> str:
    """Return a folder of wheels as an absolute path, because installers run in another folder."""
    return link if "://" in link else str(expand_home(link).absolute())


def _install(given: Namespace, host: PluginHost, command: str) -> int:
    scope, context = open_scope(given, host), open_context(given, host)
    written = [*given.sources]
    for file in given.requirement:
        from pi_packages.requirement_files import sources_in

        written += sources_in(Path(file))
    agent_dir = host.settings.agent_dir.absolute()
    written = [copied(text, agent_dir, say, dry_run=given.dry_run) for text in written]
    if given.run:
        scope = run_scope(scope.agent_dir, written[0], scope.home)
        remove_old_runs(scope.agent_dir)
    if given.typescript:
        _prepare_language(context, host)
        return 0
    if not written:
        return _nothing_named("install", "pi install SOURCE")
    entries = [_entry(text, scope, isolated=given.isolated) for text in written]
    upgrade = frozenset(each.source.identity for each in entries) if given.upgrade else frozenset()
    plan = apply(context, scope, Change(command=command, put=entries, upgrade=upgrade, dry_run=given.dry_run))
    if given.pin and plan.is_done and not given.dry_run:
        plan = _pin(context, scope, entries, command) or plan
    if plan.is_done and not given.dry_run:
        _prepare_languages(scope, context, host)
    return report(plan, given, "Already installed")


def _prepare_languages(scope: Scope, context: Context, host: PluginHost) -> None:
    """Fetch what extensions in TypeScript import, if one is installed."""
    from pi_packages.manifest import scripts_in
    from pi_packages.store import Store

    packages = Store(scope.root).current().get("packages", ())
    paths = [path for each in packages for path in (each.get("resources") or {}).get("extensions", ())]
    scripts = [script for path in paths for script in scripts_in(Path(path))]
    try:
        _prepare_language(context, host, scripts)
    except UserError as error:
        context.say(f"Warning: {error}. Extensions that import them are not loaded until pi install --typescript")


def _prepare_language(context: Context, host: PluginHost, scripts: list[str] | None = None) -> None:
    for language in host.services("ExtensionLanguage") if scripts != [] else ():
        if hasattr(language.thing, "install_packages"):
            language.thing.install_packages(context.settings, context.environ, context.say, scripts)


def _nothing_named(name: str, usage: str) -> int:
    raise WrongUse(f"pi {name} needs the name of a package: {usage}. See pi {name} --help")


def _entry(text: str, scope: Scope, *, isolated: bool) -> Entry:
    source = parse(text, Path.cwd(), scope.home)
    stored = stored_text(source, text, scope)
    return Entry(source=source, written={"source": stored, "isolated": True} if isolated else stored)


def _pin(context: Context, scope: Scope, entries: list[Entry], command: str) -> Plan | None:
    """Pin the sources that were just installed to their exact versions."""
    from pi_packages.store import Store

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
    drop = [find_identity(source_of(text, scope.agent_dir), scope) for text in given.sources]
    plan = apply(context, scope, Change(command=command, drop=drop, dry_run=given.dry_run))
    code = report(plan, given, "Removed from the settings; it was not installed")
    if code == 0 and not given.dry_run and not given.json:
        _name_remaining_settings(plan, host)
    return code


def _name_remaining_settings(plan: Plan, host: PluginHost) -> None:
    names = {row.name.removeprefix("pluggypi-") for row in plan.rows if row.action == "remove"}
    remaining = sorted(names & {*host.settings.all()})
    for key in ("plugins.allow", "plugins.disabled", "plugins.order", "plugins.required"):
        remaining += [f"{key} ({name})" for name in sorted(names) if name in (host.settings.get(key) or ())]
    if remaining:
        say(f"Settings that remain: {', '.join(remaining)}. pi config unset and pi config set change them")


def _sync(given: Namespace, host: PluginHost, command: str) -> int:
    from pi_packages.syncing import sync_change

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
