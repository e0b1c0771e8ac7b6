"""``pi sync``: makes the installed packages match the lock file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import UserError
from pi_packages.change import Change, finish_pending
from pi_packages.entries import read_entries
from pi_packages.lock import read_lock
from pi_packages.store import Store

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping, Sequence

    from pi_packages.change import Context
    from pi_packages.entries import Entry, Scope

__all__ = ["disagreements", "is_complete", "sync_change"]


def sync_change(scope: Scope, context: Context, given: Namespace, command: str) -> Change | None:
    """Return the change that makes the installed packages match the lock file; None if they do.

    Raises:
        UserError: Settings and lock file disagree, and ``--frozen`` or ``--missing`` was given.
    """
    with Store(scope.root).locked(context.say):
        Store(scope.root).recover(finish_pending(scope))
    entries, _ = read_entries(scope)
    lock = read_lock(scope.lock_file)
    before = Store(scope.root).current()
    if given.missing and is_complete(entries, before):
        return None
    if given.upgrade or (not lock and not (given.frozen or given.missing)):
        return Change(command=command, upgrade=frozenset("*") if given.upgrade else frozenset(), dry_run=given.dry_run)
    wrong = disagreements(entries, lock)
    repair = not given.missing  # which is part of each start
    if wrong and (given.frozen or given.missing):
        raise UserError(f"{scope.lock_file} and {scope.settings_file} disagree: {'; '.join(wrong)}. Run pi sync")
    if wrong:
        return Change(command=command, dry_run=given.dry_run, repair=repair)
    return Change(command=command, lock=lock, dry_run=given.dry_run, repair=repair)


def disagreements(entries: Sequence[Entry], lock: Mapping[str, Any]) -> list[str]:
    """Return the sources that are in the settings but not in the lock file, and vice versa."""
    sources = lock.get("tool", {}).get("pi", {}).get("sources", ())
    locked = {each["identity"]: each["source"] for each in sources}
    wanted = {each.source.identity: each.source.text for each in entries}
    missing = [f"{wanted[each]} is not locked" for each in wanted if each not in locked]
    extra = [f"{locked[each]} is locked and not in the settings" for each in locked if each not in wanted]
    changed = [
        f"{wanted[each]} is locked as {locked[each]}"
        for each in wanted
        if each in locked and wanted[each] != locked[each]
    ]
    apart = {each["identity"]: bool(each.get("isolated")) for each in sources if "name" in each}
    moved = [
        f"{each.source.text} is {'not ' if apart[each.source.identity] else ''}to run in a separate process"
        for each in entries
        if apart.get(each.source.identity, each.options.get("isolated") is True)
        is not (each.options.get("isolated") is True)
    ]
    return [*missing, *extra, *changed, *moved]


def is_complete(entries: Sequence[Entry], before: Mapping[str, Any]) -> bool:
    """Whether a generation contains all of these sources."""
    installed = {each["identity"] for each in before.get("packages", ())}
    return {each.source.identity for each in entries} <= installed
