"""The plan of a change, as shown to the user before the question, and as printed by ``--json``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from attrs import evolve, frozen

from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Plan", "Row", "make_plan"]

Action = Literal["install", "update", "remove"]


@frozen(kw_only=True, eq=False, repr=False)
class Row(Value):
    """One package, or one distribution that a package needs.

    Attributes:
        action: What the change does with it.
        name: Its name, or the source of a package of resources.
        source: The source; None for dependencies.
        before: The version, revision or None.
        after: The version, revision or None.
        sha256: Hashes of the files of a distribution.
        publisher: Its publisher, according to the index.
        former_publisher: The publisher of the installed version.
        grants: The grants that its plugins request; None without a statement.
        asks: The newly requested grants.
        notes: Further remarks.
    """

    action: Action
    name: str
    source: str | None
    before: str | None
    after: str | None
    sha256: list[str]
    publisher: str | None = None
    former_publisher: str | None = None
    grants: dict[str, Any] | None = None
    asks: list[str]
    notes: list[str]

    def logged(self) -> dict[str, Any]:
        """Return the row for the log."""
        return {
            "action": self.action,
            "name": self.name,
            "source": self.source,
            "version": self.after,
            "sha256": self.sha256,
            "publisher": self.publisher,
        }

    def to_plain(self) -> dict[str, Any]:
        """Return the row as ``--json`` prints it."""
        return {
            "action": self.action,
            "name": self.name,
            "source": self.source,
            "from": self.before,
            "to": self.after,
            "publisher": self.publisher,
            "grants": self.grants,
            "asks": self.asks,
            "notes": self.notes,
        }

    def line(self) -> str:
        """Return the row as a line."""
        version = {
            "install": self.after or "",
            "remove": self.before or "",
            "update": f"{self.before} -> {self.after}",
        }[self.action]
        source = f"  ({self.source})" if self.source else "  (needed by others)"
        publisher = f", published by {self.publisher}" if self.publisher else ""
        return f"{self.action:8}{self.name} {version}{source if self.action != 'remove' else ''}{publisher}".rstrip()


@frozen(kw_only=True, eq=False, repr=False)
class Plan(Value):
    """A change of one scope.

    Attributes:
        scope: ``user`` or ``project``.
        rows: What changes.
        is_done: False for a plan that was declined.
    """

    scope: str
    rows: list[Row]
    is_done: bool = True

    @property
    def is_empty(self) -> bool:
        """Whether nothing changes."""
        return not self.rows

    @property
    def more_rights(self) -> list[str]:
        """New grants that installed packages request, and changed publishers."""
        found = [
            f"{row.name} asks for {', '.join(row.asks)}" for row in self.rows if row.asks and row.before is not None
        ]
        changed = [row for row in self.rows if row.former_publisher and row.publisher != row.former_publisher]
        return found + [
            f"{row.name} was published by {row.former_publisher}, and now by {row.publisher or 'an unknown publisher'}"
            for row in changed
        ]

    def declined(self) -> Plan:
        """Return the plan marked as not carried out."""
        return evolve(self, is_done=False)

    def lines(self) -> Iterator[str]:
        """Yield the plan as readable lines."""
        for row in self.rows:
            yield row.line()
            if row.grants is not None and row.action != "remove":
                stated = [f"{kind}: {_listed(value)}" for kind, value in sorted(row.grants.items()) if value]
                yield f"        its plugins say they use {'; '.join(stated) or 'nothing'}"
            yield from (f"        {note}" for note in row.notes)


def _listed(value: Any) -> str:
    return "any" if value is True else ", ".join(value)


def make_plan(scope: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Plan:
    """Return what changes between two generations."""
    old = {each["identity"]: each for each in before.get("packages", ())}
    new = {each["identity"]: each for each in after["packages"]}
    for package in after["packages"]:  # another source of an installed distribution updates it
        replaced = [
            each for each in old if each not in new and "name" in package and old[each].get("name") == package["name"]
        ]
        if package["identity"] not in old and replaced:
            old[package["identity"]] = old.pop(replaced[0])
    rows = [
        _row(new.get(identity), old.get(identity), after) for identity in {**old, **new} if _differs(identity, old, new)
    ]
    named = {each.get("name") for each in (*old.values(), *new.values())}
    former, latter = before.get("distributions", {}), after["distributions"]
    for name in sorted({*former, *latter} - named):
        versions = former.get(name, {}).get("version"), latter.get(name, {}).get("version")
        if versions[0] != versions[1]:
            rows.append(_needed(name, *versions, latter.get(name, {}).get("sha256", [])))
    return Plan(scope=scope, rows=rows)


def _differs(identity: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    if identity not in old or identity not in new:
        return True
    keys = ("source", "version", "revision", "tree", "grants", "publisher", "isolated")
    return any(old[identity].get(key) != new[identity].get(key) for key in keys)


def _row(new: Mapping[str, Any] | None, old: Mapping[str, Any] | None, after: Mapping[str, Any]) -> Row:
    package = new or old or {}
    name = package.get("name") or package["source"]
    grants = new.get("grants") if new is not None else None
    before = set(_names((old or {}).get("grants") or {}))
    return Row(
        action="install" if old is None else "remove" if new is None else "update",
        name=name,
        source=package["source"],
        before=_version(old),
        after=_version(new),
        sha256=after["distributions"].get(name, {}).get("sha256", []),
        publisher=(new or {}).get("publisher"),
        former_publisher=(old or {}).get("publisher") if new is not None else None,
        grants=grants,
        asks=_more(grants, before) if _stated_before(old) and new is not None else [],
        notes=list(package.get("notes", ())) if new is not None else [],
    )


def _more(grants: Mapping[str, Any] | None, before: set[str]) -> list[str]:
    """Return the grants that a package newly requests; without a statement it may use everything."""
    return ["everything"] if grants is None else [each for each in _names(grants) if each not in before]


def _stated_before(old: Mapping[str, Any] | None) -> bool:
    """Whether a package had a statement so far; without one, everything was allowed."""
    return old is not None and old.get("grants") is not None


def _needed(name: str, before: str | None, after: str | None, sha256: list[str]) -> Row:
    return Row(
        action="install" if before is None else "remove" if after is None else "update",
        name=name,
        source=None,
        before=before,
        after=after,
        sha256=sha256,
        asks=[],
        notes=[],
    )


def _version(package: Mapping[str, Any] | None) -> str | None:
    if package is None:
        return None
    return package.get("version") or (package.get("revision") or "")[:12] or "local"


def _names(grants: Mapping[str, Any]) -> list[str]:
    """Return grants as single names: ``tools:bash``, ``network:any``."""
    return [
        f"{kind}:{name}"
        for kind, value in sorted(grants.items())
        for name in (["any"] if value is True else value or [])
    ]
