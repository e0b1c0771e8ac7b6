"""``pi update``: of pi itself, of packages, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import UserError
from pi_packages.change import Change, apply, finish_pending
from pi_packages.commands import open_context, open_scope, report
from pi_packages.entries import read_entries
from pi_packages.lock import lock_text
from pi_packages.log import now
from pi_packages.naming import find_identity
from pi_packages.output import say
from pi_packages.plan import make_plan
from pi_packages.store import Store

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping

    from pi_core.host import PluginHost
    from pi_packages.change import Context
    from pi_packages.entries import Scope

__all__ = ["update"]

_ITSELF = ("self", "pi")


def update(given: Namespace, host: PluginHost, command: str) -> int:
    """Run the command and return the exit code.

    Raises:
        UserError: It failed.
    """
    scope, context = open_scope(given, host), open_context(given, host)
    if given.rollback:
        return _roll_back(scope, context, given, command)
    if given.models:
        from pi_packages.catalogue import refresh

        return refresh(host.settings, offline=context.options.offline)
    if given.check:
        from pi_packages.outlook import check

        return check(scope, context, given)
    named = [each for each in given.sources if each not in _ITSELF]
    if len(named) == len(given.sources) and (named or given.extensions):
        return _update_packages(named, scope, context, given, command)
    from pi_packages.self_update import update_pi

    code = update_pi(context, dry_run=given.dry_run)
    if code == 0 and (given.all or named):
        return _update_packages([] if given.all else named, scope, context, given, command)
    return code


def _update_packages(named: list[str], scope: Scope, context: Context, given: Namespace, command: str) -> int:
    upgrade = frozenset(find_identity(each, scope) for each in named) if named else frozenset("*")
    plan = apply(context, scope, Change(command=command, upgrade=upgrade, dry_run=given.dry_run))
    if not given.json:
        entries, _ = read_entries(scope)
        pinned = [
            each.source for each in entries if each.source.is_pinned and each.source.kind in ("index", "git", "npm")
        ]
        for source in pinned:
            if not named or source.identity in upgrade:
                say(f"{source.label} is pinned; pi install it again to move it")
    return report(plan, given, "Everything is up to date")


def _roll_back(scope: Scope, context: Context, given: Namespace, command: str) -> int:
    """Put the generation before the one in force in force again, with its lock and its entries; nothing is fetched."""
    store = Store(scope.root)
    with store.locked(context.say):
        store.recover(finish_pending(scope))
        current = store.current()
        before = store.describe(current.get("previous"))
        if not before or not store.folder(before["id"]).is_dir():
            raise UserError("There is nothing to restore: no earlier generation is kept. pi list --history lists them")
        plan = make_plan(scope.name, current, before)
        if not given.dry_run:
            entries = before["entries"]
            wanted = {package["identity"] for package in before["packages"]}
            drop = [each["identity"] for each in current["packages"] if each["identity"] not in wanted]
            row = {"time": now(), "command": command, "scope": scope.name, "by": "-y" if given.yes else "asked for"}
            pending: dict[str, Any] = {
                "lock": _lock_of(before) if before["packages"] else "",
                "put": entries,
                "drop": drop,
                "log": [{**row, **each.logged()} for each in plan.rows],
            }
            store.put_in_force(before["id"], pending, finish_pending(scope))
    return report(plan, given, "Nothing changes")


def _lock_of(described: Mapping[str, Any]) -> str:
    """Return the text of the lock of a generation; the first ones have it as an object."""
    lock = described["lock"]
    return lock if isinstance(lock, str) else lock_text(lock)
