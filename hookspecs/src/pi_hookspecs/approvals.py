"""Approvals: the questions of plugins before they let something happen, and the lasting decisions of the user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from pi_hookspecs.deferred import field, frozen
from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from pi_hookspecs.views import ChangeableSettings

__all__ = ["Approval", "ApprovalChoice", "Permission", "PermissionPlace", "PermissionStore", "approval_choices"]


@frozen(eq=False, repr=False)
class ApprovalChoice(Value):
    """One answer that the user can give.

    Attributes:
        answer: What ``ctx.ui.approve`` returns if the user chooses it.
        label: What the user sees: ``Allow once``.
        means: The meaning of the answer, if its label does not say everything.
        allows: Whether it allows what was asked about; False for a refusal.
        lasting: Whether the decision applies beyond this question; a lasting refusal returns its ``answer`` instead
            of None.
        key: The key that chooses it immediately, one letter; empty for none.
    """

    answer: str
    label: str
    means: str = field(default="", kw_only=True)
    allows: bool = field(default=True, kw_only=True)
    lasting: bool = field(default=False, kw_only=True)
    key: str = field(default="", kw_only=True)


def approval_choices(
    *, once: str | None = "", session: str | None = None, always: str | None = None
) -> tuple[ApprovalChoice, ...]:
    """Return the usual choices, with a refusal last.

    Args:
        once: What allowing this once would mean; None does not offer it.
        session: What allowing it for the rest of the session would mean; None does not offer it.
        always: What allowing it from now on would mean, and where that is stored; None does not offer it.
    """
    offered = (
        (once, ApprovalChoice("once", "Allow once", means=once or "", key="y")),
        (session, ApprovalChoice("session", "Allow in this session", means=session or "", key="s")),
        (always, ApprovalChoice("always", "Always allow", means=always or "", lasting=True, key="a")),
    )
    chosen = (choice for meaning, choice in offered if meaning is not None)
    return (*chosen, ApprovalChoice("no", "Refuse", allows=False, key="n"))


def _choices(given: Iterable[ApprovalChoice]) -> tuple[ApprovalChoice, ...]:
    return tuple(given)


@frozen(eq=False, repr=False)
class Approval(Value):
    """A request for the user's approval, for ``ctx.ui.approve``.

    Attributes:
        title: The question, in one line: ``Let bash run this?``
        what: What it is about, exactly as it would happen: the command, the path, the address.
        why: Why the user is asked, in a sentence.
        choices: The answers, in the order in which they are displayed.

    Raises:
        ValueError: No choice allows, none refuses, or two have the same answer or label.
    """

    title: str
    what: str = field(default="", kw_only=True)
    why: str = field(default="", kw_only=True)
    choices: tuple[ApprovalChoice, ...] = field(factory=approval_choices, converter=_choices, kw_only=True)

    def __attrs_post_init__(self) -> None:
        if {each.allows for each in self.choices} != {True, False}:
            raise ValueError(
                "an approval needs a choice that allows and one that refuses, as approval_choices() returns"
            )
        for names in ([each.answer for each in self.choices], [each.label for each in self.choices]):
            if len({*names}) < len(names):
                raise ValueError(f"two choices of an approval have the same answer or label: {', '.join(names)}")


@frozen(eq=False, repr=False)
class Permission(Value):
    """A decision of the user that a plugin remembers.

    Attributes:
        key: Identifies it in its store.
        what: What was decided about: a command, a folder, a server.
        allowed: Whether it was allowed; False if it was refused.
        place: Where it is stored, or how long it applies.
        removable: Whether it can be undone with ``remove``.
        store: The name of its store; set by pi.
    """

    key: str
    what: str = field(kw_only=True)
    allowed: bool = field(default=True, kw_only=True)
    place: str = field(default="", kw_only=True)
    removable: bool = field(default=True, kw_only=True)
    store: str = field(default="", kw_only=True)


@frozen(kw_only=True, eq=False, repr=False)
class PermissionPlace(Value):
    """Where permissions are looked up.

    Attributes:
        cwd: The working directory.
        settings: The settings, to read and to change.
        session_id: The session; None outside of a session, as for ``pi permissions``.
    """

    cwd: Path
    settings: ChangeableSettings
    session_id: str | None = None

    @property
    def settings_file(self) -> str:
        """The user's own settings file, as ``settings.each`` names it."""
        return str(self.settings.agent_dir / "settings.json")

    def own_list(self, key: str) -> list[Any]:
        """Return a list from the user's own settings alone, without the project's; empty if there is none."""
        own = (self.settings_file, "memory")
        found: Any = next((value for origin, value in self.settings.each(key) if origin in own), [])
        return found if isinstance(found, list) else []


@runtime_checkable
class PermissionStore(Protocol):
    """The decisions of one kind that a plugin remembers (``register_permissions``)."""

    @property
    def name(self) -> str:
        """The heading above its decisions: ``Trusted folders``."""
        ...

    def list(self, place: PermissionPlace) -> Sequence[Permission]:
        """Return the decisions.

        Raises:
            UserError: They cannot be read.
        """
        ...

    async def remove(self, permission: Permission, place: PermissionPlace) -> None:
        """Undo a decision: the user is asked again.

        Raises:
            UserError: It cannot be undone; nothing was changed.
        """
        ...
