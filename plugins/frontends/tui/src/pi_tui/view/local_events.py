"""Events that no session emits: requests of plugins to the user interface, and facts that only the front end knows.

A front end in the session's process creates them from calls of ``ctx.ui``, a client from the requests on the wire.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from attrs import frozen

from pi_hookspecs.values import ReprMixin

__all__ = [
    "ActivityChanged",
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
    """The user runs a command; ``id`` matches the id of its ``bash_execution_update`` events."""

    type: ClassVar[str] = "local_bash_started"
    id: str
    command: str
    excluded: bool = False


@frozen(kw_only=True, eq=False, repr=False)
class BashEnded(ReprMixin):
    """A command of the user has ended.

    Attributes:
        message: Its result, a ``BashExecutionMessage`` or a client's ``BashResult``; None if it could not be run.
        error: The reason why it could not be run.
    """

    type: ClassVar[str] = "local_bash_ended"
    id: str
    message: Any = None
    error: str = ""


@frozen(kw_only=True, eq=False, repr=False)
class FactsChanged(ReprMixin):
    """Fields of the footer that the front end determined, such as ``cwd``, ``branch`` and ``window``."""

    type: ClassVar[str] = "local_facts"
    facts: dict[str, Any]


@frozen(kw_only=True, eq=False, repr=False)
class NoticeShown(ReprMixin):
    """Lines for the user. With ``replaces``, it replaces such a notice directly before it."""

    type: ClassVar[str] = "local_notice"
    text: str
    level: Literal["info", "warning", "error"] = "info"
    replaces: bool = False


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
class ActivityChanged(ReprMixin):
    """What a plugin has running or pending, an ``Activity``; None removes it."""

    type: ClassVar[str] = "local_activity"
    key: str
    activity: Any = None


@frozen(kw_only=True, eq=False, repr=False)
class TitleChanged(ReprMixin):
    """A plugin's title for the window."""

    type: ClassVar[str] = "local_title"
    title: str


@frozen(kw_only=True, eq=False, repr=False)
class WorkMessageChanged(ReprMixin):
    """A plugin's text in place of ``Working``; None restores it."""

    type: ClassVar[str] = "local_work_message"
    text: str | None = None


@frozen(kw_only=True, eq=False, repr=False)
class CommandRunning(ReprMixin):
    """A slash command has run long enough to be displayed; the name is empty when it has ended."""

    type: ClassVar[str] = "local_command_running"
    name: str = ""


@frozen(kw_only=True, eq=False, repr=False)
class DialogOpened(ReprMixin):
    """A plugin asks the user a question."""

    type: ClassVar[str] = "local_dialog_opened"
    id: str
    kind: Literal["select", "confirm", "input", "editor"]
    title: str
    message: str = ""
    options: tuple[str, ...] = ()
    prefill: str = ""


@frozen(kw_only=True, eq=False, repr=False)
class DialogClosed(ReprMixin):
    """A question was answered or dismissed, or its plugin no longer waits for the answer."""

    type: ClassVar[str] = "local_dialog_closed"
    id: str
