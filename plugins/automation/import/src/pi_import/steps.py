"""Steps: each thing that another agent has, what becomes of it in pi, and why.

A step is decided before anything is written: its change says whether its target is free, has the same content already,
or has something else, which is kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from attrs import field, frozen

from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from pi_import.place import Place

__all__ = ["OUTCOMES", "Change", "Outcome", "State", "Step", "decide", "left_out", "others_left_out"]

Outcome: TypeAlias = Literal["taken", "differently", "already", "not"]

OUTCOMES: dict[Outcome, str] = {
    "taken": "imported",
    "differently": "imported with changes",
    "already": "already here",
    "not": "not imported",
}
"""The outcomes in words."""

State: TypeAlias = Literal["free", "same", "other"]
"""The target of a change: nothing there, the same content, or something else."""


class Change(Protocol):
    """A change of pi's files."""

    @property
    def target(self) -> str:
        """What is changed, in words: a file, or a setting and its file."""
        ...

    def state(self) -> State:
        """Return what is at the target now.

        Raises:
            UserError: It cannot be read.
        """
        ...

    def apply(self) -> None:
        """Make the change.

        Raises:
            PiError: It could not be made; the target is as it was.
            OSError: As above.
        """
        ...


@frozen(kw_only=True)
class Step:
    """A thing of another agent.

    Attributes:
        kind: What it is: ``instructions``, ``command``, ``agent``, ``skill``, ``hook``, ``mcp``, ``permission``,
            ``model``, ``provider``, ``session``, ``setting`` or ``key``.
        name: Its name there.
        source: The file that it is in.
        outcome: What becomes of it.
        why: How it differs, or why it is not imported, as a sentence without its full stop; else empty.
        target: Where it is in pi.
        scope: ``user``, or ``project`` for a thing of the working directory.
        apply: Makes the change; None if there is none to make.
    """

    kind: str
    name: str
    source: str
    outcome: Outcome
    why: str = ""
    target: str = ""
    scope: Literal["user", "project"] = "user"
    apply: Callable[[], None] | None = field(default=None, eq=False, repr=False)


def decide(
    kind: str,
    name: str,
    source: str,
    change: Change,
    *,
    scope: Literal["user", "project"],
    why: str = "",
    other: str = "it is kept",
) -> Step:
    """Return the step for a change, according to what is at its target.

    Args:
        kind: As in ``Step``.
        name: As in ``Step``.
        source: As in ``Step``.
        change: The change.
        scope: As in ``Step``.
        why: How the result differs from the original; empty if it does not.
        other: What happens to a different content at the target.
    """
    try:
        state = change.state()
    except UserError as error:
        return left_out(kind, name, source, str(error).rstrip("."), scope=scope)
    if state == "same":
        return Step(kind=kind, name=name, source=source, outcome="already", target=change.target, scope=scope)
    if state == "other":
        kept = f"{change.target} already has something else; {other}"
        return Step(kind=kind, name=name, source=source, outcome="not", why=kept, target=change.target, scope=scope)
    return Step(
        kind=kind,
        name=name,
        source=source,
        outcome="differently" if why else "taken",
        why=why,
        target=change.target,
        scope=scope,
        apply=change.apply,
    )


def others_left_out(place: Place, values: Mapping[str, Any], source: str, known: Collection[str]) -> Iterator[Step]:
    """Yield one step for all keys of a configuration that no other step is about.

    Args:
        place: Where it is.
        values: The configuration.
        source: Its file.
        known: The keys that other steps are about.
    """
    names = [
        key for key, value in values.items() if key not in known and not key.startswith("$") and value not in _UNSET
    ]
    if names:
        why = f"pi import does not know {'it' if len(names) == 1 else 'them'}; pi help settings lists pi's settings"
        yield left_out("setting", ", ".join(names)[:300], source, why, scope=place.scope)


_UNSET: tuple[Any, ...] = (None, "", [], {})


def left_out(kind: str, name: str, source: str, why: str, *, scope: Literal["user", "project"]) -> Step:
    """Return the step for something that is not imported."""
    return Step(kind=kind, name=name, source=source, outcome="not", why=why, scope=scope)
