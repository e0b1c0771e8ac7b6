"""The blocks of a transcript. A block's text is clean; its ``revision`` increases with each visible change.

Blocks are equal if their contents are equal, so that two states can be compared.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, TypeAlias

from attrs import define, field, frozen

from pi_hookspecs.values import Value
from pi_tui.view.growing import Growing, Tail

__all__ = [
    "Answer",
    "Bash",
    "Block",
    "Custom",
    "Error",
    "Image",
    "Notice",
    "Summary",
    "Thinking",
    "Tool",
    "ToolStatus",
    "User",
    "text_of_block",
]

ToolStatus: TypeAlias = Literal["pending", "running", "done", "error"]
"""``pending`` until the call runs: its arguments are still being received, or an earlier call is running."""


@frozen(eq=False, repr=False)
class Image(Value):
    """An image of a message: base64 data and MIME type."""

    mime_type: str
    data: str = field(repr=False)


@define(kw_only=True, eq=False, repr=False)
class _Block(Value):
    id: str
    revision: int = field(default=0, eq=False)

    __hash__ = None  # type: ignore[assignment] # it changes


@define(kw_only=True, eq=False, repr=False)
class User(_Block):
    """A message of the user."""

    kind: ClassVar[Literal["user"]] = "user"
    text: str
    images: tuple[Image, ...] = ()


@define(kw_only=True, eq=False, repr=False)
class Answer(_Block):
    """Text of the model, in Markdown; ``done`` is set once it is complete."""

    kind: ClassVar[Literal["answer"]] = "answer"
    text: Growing = field(factory=Growing)
    done: bool = False


@define(kw_only=True, eq=False, repr=False)
class Thinking(_Block):
    """Reasoning of the model, in Markdown; ``redacted`` is set if the provider withholds it."""

    kind: ClassVar[Literal["thinking"]] = "thinking"
    text: Growing = field(factory=Growing)
    done: bool = False
    redacted: bool = False


@define(kw_only=True, eq=False, repr=False)
class Tool(_Block):
    """A tool call and its result.

    Attributes:
        arguments: The call's arguments, once they are complete; a renderer has to clean their texts.
        received: The JSON text of arguments that are still being received.
        output: Text of the result, partial while it runs, with colours as escape sequences (SGR).
        details: The result's details, as returned by the tool.
        started: When the call began to run, in seconds of the clock of ``reduce``'s caller; None before that.
        duration_ms: How long the call ran, in milliseconds; None before its end.
    """

    kind: ClassVar[Literal["tool"]] = "tool"
    call_id: str
    name: str
    status: ToolStatus = "pending"
    arguments: dict[str, Any] | None = None
    received: Growing = field(factory=Growing)
    output: str = ""
    images: tuple[Image, ...] = ()
    details: Any = None
    started: float | None = field(default=None, eq=False)
    duration_ms: int | None = None


@define(kw_only=True, eq=False, repr=False)
class Bash(_Block):
    """A command that the user ran with ``!``, or with ``!!`` (``excluded`` from the model's context).

    Attributes:
        exit_code: The exit code; None while the command runs, and if it was cancelled.
        full_output_path: File with the complete output, if ``output`` is only its end.
    """

    kind: ClassVar[Literal["bash"]] = "bash"
    command: str
    excluded: bool = False
    output: Tail = field(factory=Tail)
    running: bool = False
    exit_code: int | None = None
    cancelled: bool = False
    truncated: bool = False
    full_output_path: str | None = None


@define(kw_only=True, eq=False, repr=False)
class Summary(_Block):
    """Summary of compacted entries, or of an abandoned branch.

    The numbers are the tokens before compaction, and those after it, which a stored session does not have.
    """

    kind: ClassVar[Literal["summary"]] = "summary"
    of: Literal["compaction", "branch"]
    text: str
    tokens_before: int = 0
    tokens_after: int | None = None


@define(kw_only=True, eq=False, repr=False)
class Custom(_Block):
    """A message of a plugin, or an entry, stored unchanged in ``value``, that only a renderer can draw."""

    kind: ClassVar[Literal["custom"]] = "custom"
    custom_type: str
    text: str = ""
    images: tuple[Image, ...] = ()
    value: Any = field(default=None, eq=False)


@define(kw_only=True, eq=False, repr=False)
class Notice(_Block):
    """Lines for the user. With ``replaces``, the next notice of this kind replaces it."""

    kind: ClassVar[Literal["notice"]] = "notice"
    text: str
    level: Literal["info", "warning", "error"] = "info"
    replaces: bool = False


@define(kw_only=True, eq=False, repr=False)
class Error(_Block):
    """A failure: a description of what happened, and the ``detail`` that the provider or plugin reported."""

    kind: ClassVar[Literal["error"]] = "error"
    text: str
    detail: str = ""


Block: TypeAlias = User | Answer | Thinking | Tool | Bash | Summary | Custom | Notice | Error


def text_of_block(block: Block) -> str:
    """Return all text of a block, even if only a part is displayed; program output keeps its colours (SGR)."""
    if block.kind == "bash":
        return f"$ {block.command}\n{block.output}".rstrip("\n")
    if block.kind == "tool":
        return block.output
    return str(block.text)
