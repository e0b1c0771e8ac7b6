"""Events that no session emits: what plugins ask of the user interface, and what a front end knows by itself.

A front end in the session's process makes them of the calls of ``ctx.ui``, a client of the requests on the wire.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from attrs import frozen

from pi_hookspecs.values import ReprMixin

__all__ = [
    "BashEnded",
    "BashStarted",
    "CommandRunning",
    "DialogClosed",
    "DialogOpened",
    "FactsChanged",
    "NoticeShown",
    "StatusChanged",
    "TitleChanged",
    "WidgetChanged",
    "WorkMessageChanged",
]


@frozen(kw_only=True, eq=False, repr=False)
class BashStarted(ReprMixin):
    """The user runs a command; ``id`` is that of its ``bash_execution_update`` events."""

    type: ClassVar[str] = "local_bash_started"
    id: str
    command: str
    excluded: bool = False


@frozen(kw_only=True, eq=False, repr=False)
class BashEnded(ReprMixin):
    """A command of the user is over.

    Attributes:
        message: Its result, a ``BashExecutionMessage`` or a client's ``BashResult``; None where it could not be run.
        error: Why it could not be run.
    """

    type: ClassVar[str] = "local_bash_ended"
    id: str
    message: Any = None
    error: str = ""


@frozen(kw_only=True, eq=False, repr=False)
class FactsChanged(ReprMixin):
    """Fields of the footer that the front end has looked up, such as ``cwd``, ``branch`` and ``window``."""

    type: ClassVar[str] = "local_facts"
    facts: dict[str, Any]


@frozen(kw_only=True, eq=False, repr=False)
class NoticeShown(ReprMixin):
    """A line for the user."""

    type: ClassVar[str] = "local_notice"
    text: str
    level: Literal["info", "warning", "error"] = "info"


@frozen(kw_only=True, eq=False, repr=False)
class StatusChanged(ReprMixin):
    """A plugin's status text; None removes it."""

    type: ClassVar[str] = "local_status"
    key: str
    text: str | None = None


@frozen(kw_only=True, eq=False, repr=False)
class WidgetChanged(ReprMixin):
    """A plugin's lines near the editor, strings or ``Line`` values; None removes them."""

    type: ClassVar[str] = "local_widget"
    key: str
    lines: tuple[Any, ...] | None = None
    placement: Literal["aboveEditor", "belowEditor"] | None = None


@frozen(kw_only=True, eq=False, repr=False)
class TitleChanged(ReprMixin):
    """The window's title, as a plugin sets it."""

    type: ClassVar[str] = "local_title"
    title: str


@frozen(kw_only=True, eq=False, repr=False)
class WorkMessageChanged(ReprMixin):
    """A plugin's text in place of ``Working``; None restores it."""

    type: ClassVar[str] = "local_work_message"
    text: str | None = None


@frozen(kw_only=True, eq=False, repr=False)
class CommandRunning(ReprMixin):
    """A slash command takes so long that it is displayed; an empty name when it is over."""

    type: ClassVar[str] = "local_command_running"
    name: str = ""


@frozen(kw_only=True, eq=False, repr=False)
class DialogOpened(ReprMixin):
    """A plugin asks the user."""

    type: ClassVar[str] = "local_dialog_opened"
    id: str
    kind: Literal["select", "confirm", "input", "editor"]
    title: str
    message: str = ""
    options: tuple[str, ...] = ()
    prefill: str = ""


@frozen(kw_only=True, eq=False, repr=False)
class DialogClosed(ReprMixin):
    """A question was answered, dismissed, or is not waited for any more."""

    type: ClassVar[str] = "local_dialog_closed"
    id: str
