"""Turns wanted packages into a new generation: solved, installed separately, tested, and activated."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from attrs import evolve, field, frozen

from pi_core.host.approved import approve_packages
from pi_core.host.guarded import LOAD_SECONDS
from pi_core.host.overlay import read_pth
from pi_hookspecs import UserError
from pi_hookspecs.values import Value
from pi_packages.attested import check_attested, check_source, wants_proof
from pi_packages.base import Base
from pi_packages.contents import changed_files, check_modules, find_distributions, grants_of, plugins_of, resources_of
from pi_packages.entries import Entry, change_entries, read_entries
from pi_packages.explain import explain
from pi_packages.guards import guards_of
from pi_packages.installers import Options, SolveFailed, Wanted, find_installer
from pi_packages.isolated import install_isolated, is_isolated, solve_isolated
from pi_packages.lock import from_lock, hashes_of, lock_text, parse_lock, read_lock, to_lock, write_lock
from pi_packages.log import append_log, now
from pi_packages.material import Material, check_builds, fetch
from pi_packages.naming import without_replaced
from pi_packages.plan import Plan, make_plan
from pi_packages.policy import check_allowed, check_denied
from pi_packages.probe import probe
from pi_packages.publisher import publisher_of
from pi_packages.settings import INSTALLER
from pi_packages.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from pi_core.settings import Settings
    from pi_packages.entries import Scope
    from pi_packages.installers import Installer
    from pi_packages.store import Description

__all__ = ["Change", "Context", "apply", "finish_pending"]


@frozen(kw_only=True, eq=False, repr=False)
class Context(Value):
    """The context that all commands share.

    Attributes:
        settings: The user's settings, and the project's if it is trusted.
        environ: The environment.
        options: Where distributions come from.
        say: Called with a progress line.
        agree: Called with a plan; returns who agreed, or None. May raise ``UserError``.
        agree_to_build: Called with a source before code of it runs to build it; returns whether it may.
    """

    settings: Settings
    environ: Mapping[str, str]
    options: Options
    say: Callable[[str], object]
    agree: Callable[[Plan], str | None]
    agree_to_build: Callable[[str], bool]

    @property
    def agent_dir(self) -> Path:
        """The agent directory, as an absolute path."""
        return self.settings.agent_dir.absolute()

    def installer(self) -> Installer:
        """Return the installer."""
        folder = self.agent_dir / "packages" / "work"
        folder.mkdir(parents=True, exist_ok=True)
        return find_installer(INSTALLER.read(self.settings), folder, self.environ)


@frozen(kw_only=True, eq=False, repr=False)
class Change(Value):
    """A change of one scope.

    Attributes:
        command: What the user typed, for the log.
        put: Entries to add or replace.
        drop: Identities to remove.
        upgrade: Identities whose locked versions are ignored; ``*`` for all.
        lock: A lock file whose versions are installed without solving.
        dry_run: Whether only to plan.
        repair: Whether changed files of installed packages are a reason to install everything again.
    """

    command: str
    put: Sequence[Entry] = ()
    drop: Sequence[str] = ()
    upgrade: frozenset[str] = field(default=frozenset())
    lock: Mapping[str, Any] | None = None
    dry_run: bool = False
    repair: bool = False


def finish_pending(scope: Scope) -> Callable[[Mapping[str, Any]], None]:
    """Return the function that writes the lock file and the settings of the active generation."""

    def finish(pending: Mapping[str, Any]) -> None:
        write_lock(scope.lock_file, pending["lock"])
        if pending["put"] or pending["drop"]:
            change_entries(scope, pending["put"], pending["drop"])
        if scope.name == "project":  # the user has made this change
            approve_packages(scope.agent_dir, scope.lock_file.parent.parent)
        append_log(scope.agent_dir, pending["log"])

    return finish


def apply(context: Context, scope: Scope, change: Change) -> Plan:
    """Make a change, and return its plan; nothing is changed if it fails or is declined.

    Raises:
        UserError: The change failed.
    """
    store = Store(scope.root)
    with store.locked(context.say):
        store.recover(finish_pending(scope))
        before = store.current()
        entries, problems = read_entries(scope)
        for problem in problems:
            context.say(f"Warning: {problem}")
        wanted = {each.source.identity: each for each in entries if each.source.identity not in change.drop}
        wanted |= {each.source.identity: _with_options(each, wanted.get(each.source.identity)) for each in change.put}
        declared = [each.written for each in entries]
        keeps_settings = not change.drop and all(each.written in declared for each in change.put)
        attempt = _Attempt(context, scope, store, change, before, keeps_settings=keeps_settings)
        try:
            return attempt.run(list(wanted.values()))
        except OSError as error:
            where = error.filename or scope.root
            raise UserError(
                f"{where} cannot be written: {error.strerror}. Free some space, or make it writable"
            ) from error


def _with_options(entry: Entry, before: Entry | None) -> Entry:
    """Return an entry with its options from the settings."""
    if before is None or not before.options:
        return entry
    written = {"source": entry.written} if isinstance(entry.written, str) else entry.written
    return evolve(entry, written={**before.options, **written})


class _Attempt:
    """One attempt to make a change."""

    def __init__(
        self,
        context: Context,
        scope: Scope,
        store: Store,
        change: Change,
        before: Description,
        *,
        keeps_settings: bool,
    ) -> None:
        self._keeps_settings = keeps_settings
        self._context = context
        self._scope = scope
        self._store = store
        self._change = change
        self._before = before
        self._base = Base(context.agent_dir)
        self._apart: dict[str, list[dict[str, Any]]] = {}
        self._proofs: dict[str | None, dict[str, Any]] = {}

    def run(self, entries: Sequence[Entry]) -> Plan:
        check_denied(self._context.settings, [each.source.identity for each in entries])
        fetched = {each.source.identity: self._fetch(each) for each in self._change.put}
        installed = {each["identity"]: each for each in self._before.get("packages", ())}
        entries, drop = without_replaced(entries, fetched, installed, self._context.say)
        if drop:
            self._change = evolve(self._change, drop=[*self._change.drop, *drop])
            self._keeps_settings = False
        materials = [fetched.get(each.source.identity) or self._fetch(each) for each in entries]
        pairs = list(zip(entries, materials, strict=True))
        check_builds(materials, installed, self._context.agree_to_build)
        self._apart = {
            str(material.name): self._solve_isolated(material)
            for entry, material in pairs
            if is_isolated(entry, material)
        }
        tables = self._solve([material for _, material in pairs if material.name not in self._apart])
        names = [each["name"] for found in (tables, *self._apart.values()) for each in found]
        check_denied(self._context.settings, [f"pypi:{name}" for name in names])
        self._verify([material for _, material in pairs], tables)
        damaged = self._is_damaged()
        options = evolve(self._context.options, fresh=damaged)
        with self._store.draft() as draft:
            if tables:
                self._context.say(f"Installing {len(tables)} {'package' if len(tables) == 1 else 'packages'}")
                self._context.installer().install(tables, draft, options)
            described = self._describe(draft, tables, entries, materials)
            plan = make_plan(self._scope.name, self._before, described)
            is_same = self._before.get("base") == described["base"] or not described["packages"]
            is_kept = is_same and self._keeps_settings and not damaged
            if self._change.dry_run or (plan.is_empty and is_kept):
                return plan
            agreed = self._context.agree(plan) if not plan.is_empty else "nothing to ask"
            if agreed is None:
                return plan.declined()
            self._try_plugins(draft, described)
            self._publish(draft, described, plan, agreed)
        return plan

    # Steps

    def _fetch(self, entry: Entry) -> Material:
        return fetch(entry.source, self._context, self._known(entry.source.identity))

    def _is_damaged(self) -> bool:
        """Whether installed files were changed, for a change that repairs them."""
        if not self._change.repair or "id" not in self._before:
            return False
        return next(changed_files(self._store.folder(self._before["id"])), None) is not None

    def _known(self, identity: str) -> Mapping[str, Any] | None:
        """Return what the active generation stores about a package that is not upgraded."""
        if "*" in self._change.upgrade or identity in self._change.upgrade:
            return None
        packages = self._before.get("packages", ())
        if self._change.lock is not None:
            packages = self._change.lock.get("tool", {}).get("pi", {}).get("sources", ())
        return next((each for each in packages if each["identity"] == identity), None)

    def _solve_isolated(self, material: Material) -> list[dict[str, Any]]:
        """Return the requirements of a package with a separate process; versions locked for this pi are kept."""
        lock = self._change.lock if self._change.lock is not None else read_lock(self._scope.lock_file)
        locked = lock.get("tool", {}).get("pi", {}).get("isolated", {}).get(material.name)
        is_kept = self._before.get("base") == self._base.versions and self._known(material.source.identity) is not None
        if locked is not None and (self._change.lock is not None or is_kept):
            return from_lock({"packages": locked}, [material], self._scope.lock_file.parent)
        return solve_isolated(material, self._context, self._base)

    def _solve(self, materials: Sequence[Material]) -> list[dict[str, Any]]:
        if self._change.lock is not None:
            return from_lock(self._change.lock, materials, self._scope.lock_file.parent)
        requirements = tuple(each.requirement for each in materials if each.requirement is not None)
        if not requirements:
            return []
        locked = from_lock(read_lock(self._scope.lock_file), materials, self._scope.lock_file.parent)
        upgrade = {each.removeprefix("pypi:") for each in self._change.upgrade if each.startswith("pypi:")}
        if "*" in self._change.upgrade:
            upgrade = {each["name"] for each in locked}
        wanted = Wanted(
            requirements=requirements,
            locked=tuple(locked),
            upgrade=frozenset(upgrade),
            universal=self._scope.name == "project",
        )
        try:
            return self._context.installer().solve(wanted, self._base, self._context.options)
        except SolveFailed as error:
            changed = {each.source.identity for each in self._change.put}
            raise UserError(explain(str(error), materials, changed, self._base, self._context.options)) from error

    def _verify(self, materials: Sequence[Material], tables: Sequence[Mapping[str, Any]]) -> None:
        """Verify the named packages, if the settings require it."""
        if not wants_proof(self._context.settings):
            return
        for material in materials:
            check_source(material)
            for table in (*tables, *self._apart.get(str(material.name), ())):
                if material.source.kind == "index" and table["name"] == material.name:
                    self._proofs[material.name] = self._proof(material.source.identity, table)

    def _proof(self, identity: str, table: Mapping[str, Any]) -> dict[str, Any]:
        packages = self._before.get("packages", ())
        known = next((each.get("attested") for each in packages if each["identity"] == identity), None)
        if known is not None and known["sha256"] == hashes_of(table):
            return dict(known)  # active packages were verified before
        self._context.say(f"Verifying {table['name']}")
        index = partial(self._context.installer().index_of, table["name"], table["version"], self._context.options)
        return {"by": check_attested(table, index), "sha256": hashes_of(table)}

    def _describe(
        self, draft: Path, tables: Sequence[Mapping[str, Any]], entries: Sequence[Entry], materials: Sequence[Material]
    ) -> Description:
        found = find_distributions(draft)
        check_modules(draft, found, self._base)
        by_name = {each["name"]: each for each in tables}
        packages = []
        for entry, material in zip(entries, materials, strict=True):
            package: dict[str, Any] = {
                "source": entry.source.text,
                "written": entry.written["source"] if isinstance(entry.written, dict) else entry.written,
                "identity": entry.source.identity,
                "kind": entry.source.kind,
                "pinned": entry.source.is_pinned,
                **material.describe(),
            }
            if material.name in self._apart:
                package |= install_isolated(material, self._apart[material.name], draft, self._context)
                by_apart = {each["name"]: each for each in self._apart[material.name]}
                package["publisher"] = self._publisher(package, by_apart.get(material.name, {}))
            elif material.name is not None:
                distribution = found.get(material.name)
                if distribution is None and material.name in self._base.versions:
                    raise UserError(f"{material.name} is already in pi's own environment; there is nothing to install")
                if distribution is None:
                    raise UserError(f"{entry.source.label} was not installed: its markers exclude it here")
                package["version"] = distribution.version
                package["publisher"] = self._publisher(package, by_name.get(material.name, {}))
                package["plugins"] = plugins_of(distribution)
                package["grants"] = grants_of(distribution, draft)
                package["resources"] = resources_of(distribution)
                if not package["plugins"] and not package["resources"]:
                    raise UserError(
                        f"{material.name} {distribution.version} is not a plugin: it has neither an entry point in"
                        " group 'pi' nor skills, prompts or themes"
                    )
            if material.name in self._proofs:
                package["attested"] = self._proofs[material.name]
                package["notes"] = [*package.get("notes", ()), package["attested"]["by"]]
            packages.append(package)
        return {
            "created": now(),
            "command": self._change.command,
            "previous": self._before.get("id"),
            "python": ".".join(map(str, sys.version_info[:3])),
            "base": self._base.versions,
            "entries": [each.written for each in entries],
            "packages": packages,
            "distributions": {
                name: {"version": each.version, "sha256": hashes_of(by_name.get(name, {}))}
                for name, each in sorted(found.items())
            },
            "plugins": {name: {"distribution": key} for key, each in found.items() for name in plugins_of(each)},
            "ignored": read_pth(str(draft))[1],
            "lock": lock_text(
                self._lock(to_lock(tables, materials, self._scope.lock_file.parent), packages, materials)
            ),
        }

    def _publisher(self, package: Mapping[str, Any], table: Mapping[str, Any]) -> str | None:
        """Return the publisher of what will be installed; installed packages were looked up before."""
        packages = self._before.get("packages", ())
        known: dict[str, Any] = next((each for each in packages if each["identity"] == package["identity"]), {})
        if known.get("version") == package["version"] or self._context.options.offline:
            found: str | None = known.get("publisher")
            return found
        name, version, options = package["name"], package["version"], self._context.options
        return publisher_of(table, lambda: self._context.installer().index_of(name, version, options))

    def _lock(
        self, tables: Sequence[Mapping[str, Any]], packages: Sequence[Mapping[str, Any]], materials: Sequence[Material]
    ) -> dict[str, Any]:
        keys = (
            "source",
            "identity",
            "kind",
            "name",
            "version",
            "revision",
            "tree",
            "integrity",
            "publisher",
            "isolated",
        )
        sources = [{key: each[key] for key in keys if each.get(key)} for each in packages]
        for source, package in zip(sources, packages, strict=True):
            if package["written"] != package["source"]:
                source["written"] = package["written"]
        before = self._change.lock if self._change.lock is not None else read_lock(self._scope.lock_file)
        unknown = {key: value for key, value in before.items() if key not in ("packages", "tool")}
        ours = {**before.get("tool", {}).get("pi", {}), "sources": sources}
        ours["isolated"] = {
            name: to_lock(found, materials, self._scope.lock_file.parent) for name, found in self._apart.items()
        }
        if not self._apart:
            del ours["isolated"]
        tool = {**before.get("tool", {}), "pi": ours}
        return {
            **unknown,
            "lock-version": "1.0",
            "created-by": "pi",
            "packages": list(tables),
            "tool": tool,
        }

    def _try_plugins(self, draft: Path, described: Description) -> None:
        plugins = described["plugins"]
        names = [name for each in described["packages"] for name in each.get("plugins", ())]
        check_allowed(self._context.settings, names)
        seconds = self._context.settings.get_number("hooks.timeout", LOAD_SECONDS, minimum=0.001)
        paths = [*self._base.paths, str(draft), *read_pth(str(draft))[0]]
        found = probe(
            list(plugins), paths, self._context.agent_dir / "packages" / "work", seconds, self._context.environ
        )
        before = self._before.get("plugins", {})
        for name, tried in found.items():
            plugins[name] |= tried
            if not tried["loads"] and (name not in before or before[name].get("loads", True)):
                state = "worked before and" if name in before else "is new and"
                raise UserError(
                    f"nothing was changed: the plugin {name!r} {state} cannot be loaded: {'; '.join(tried['problems'])}"
                )
        self._note_guards(draft, described)

    def _note_guards(self, draft: Path, described: Description) -> None:
        """Store in the lock which plugins decide what may be done: their absence must not open the gate elsewhere."""
        noted = {
            package["identity"]: guards
            for package in described["packages"]
            if (guards := guards_of(package, described, draft))
        }
        if not noted:
            return
        lock = parse_lock(described["lock"], "the lock")
        for source in lock["tool"]["pi"]["sources"]:
            if source["identity"] in noted:
                source["guards"] = noted[source["identity"]]
        described["lock"] = lock_text(lock)

    def _publish(self, draft: Path, described: Description, plan: Plan, agreed: str) -> None:
        row = {"time": described["created"], "command": self._change.command, "scope": self._scope.name, "by": agreed}
        pending = {
            "lock": described["lock"] if described["packages"] else "",
            "put": [each.written for each in self._change.put],
            "drop": list(self._change.drop),
            "log": [{**row, **each.logged()} for each in plan.rows],
        }
        self._store.publish(draft, described, pending, finish_pending(self._scope))
