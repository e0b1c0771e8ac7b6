"""Everything that a front end displays of a session: one value, which reducers change and painters read."""

from __future__ import annotations

from collections.abc import Callable, Sequence  # noqa: TC003 - attrs keeps the annotation
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from attrs import define, field

from pi_hookspecs.values import Value
from pi_tui.view.changes import Changes
from pi_tui.view.clean import CleanStream

if TYPE_CHECKING:
    from pi_hookspecs import Activity
    from pi_tui.view.blocks import Bash, Block, Tool

__all__ = ["Dialog", "Footer", "Queue", "Retry", "State", "Widget", "Work", "changed"]

B = TypeVar("B")


@define(eq=False, repr=False)
class _Part(Value):
    __hash__ = None  # type: ignore[assignment] # it changes


@define(eq=False, repr=False)
class Queue(_Part):
    """Queued messages: those for the next request, and those for the end of the run."""

    steering: tuple[str, ...] = ()
    follow_up: tuple[str, ...] = ()


@define(eq=False, repr=False)
class Retry(_Part):
    """A failed request that is repeated ``delay_ms`` after ``started`` (in seconds of the caller's clock)."""

    attempt: int
    most: int
    delay_ms: int
    reason: str
    started: float = field(default=0.0, eq=False)


@define(eq=False, repr=False)
class Work(_Part):
    """What the session is doing.

    Attributes:
        running: Whether a prompt is being worked on.
        started: When that began, in seconds of the caller's clock.
        retry: The retry for which the session waits.
        compacting: The reason for the running compaction.
        summarizing: Whether the request for a summary is being repeated.
        message: A plugin's text in place of ``Working``.
        command: The name of a long-running slash command.
    """

    running: bool = False
    started: float = field(default=0.0, eq=False)
    retry: Retry | None = None
    compacting: Literal["manual", "threshold", "overflow"] | None = None
    summarizing: bool = False
    message: str | None = None
    command: str = ""


@define(eq=False, repr=False)
class Footer(_Part):
    """The figures of the footer; ``numbers`` formats them.

    Attributes:
        input: Tokens that were sent and not read from a cache, summed over all entries; the other totals likewise.
        cost: Total cost in US dollars.
        subscription: Whether a subscription pays for the model, so that the cost is not billed.
        context: Tokens of the next request; None if unknown, as after a compaction.
        window: The model's context window in tokens; 0 if unknown.
        hit_rate: Share of the last request that was read from the cache, from 0 to 1; None before the first.
        providers: Number of usable providers; the footer names the provider if there are several.
        dispatched: Id of the model that answers for a virtual model; None for other models and before the first answer.
        dispatched_level: The reasoning effort of that model; None if it is off.
    """

    cwd: str = ""
    branch: str | None = None
    name: str | None = None
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cost: float = 0.0
    subscription: bool = False
    context: int | None = 0
    window: int = 0
    hit_rate: float | None = None
    auto_compact: bool = True
    model: str | None = None
    provider: str | None = None
    level: str | None = None
    providers: int = 1
    dispatched: str | None = None
    dispatched_level: str | None = None


@define(eq=False, repr=False)
class Widget(_Part):
    """Lines of a plugin next to the editor."""

    lines: tuple[Any, ...]
    placement: Literal["aboveEditor", "belowEditor"] = "aboveEditor"


@define(eq=False, repr=False)
class Dialog(_Part):
    """A question of a plugin that waits for its answer."""

    id: str
    kind: Literal["select", "confirm", "input", "editor"]
    title: str
    message: str = ""
    options: tuple[str, ...] = ()
    prefill: str = ""


@define(kw_only=True, eq=False, repr=False)
class State(_Part):
    """The visible state of a session.

    Attributes:
        blocks: The transcript, from its beginning.
        now: The time of the last event, in seconds of the clock of ``reduce``'s caller.
        explain: Returns the sentence to display for the error text of a request.
        answering: The blocks of the answer that is being received, by content index.
        unfinished: Tool calls without a result, by their ids.
        commands: Commands of the user that are running, by their ids.
    """

    blocks: list[Block] = field(factory=list)
    queue: Queue = field(factory=Queue)
    work: Work = field(factory=Work)
    footer: Footer = field(factory=Footer)
    statuses: dict[str, str] = field(factory=dict)
    widgets: dict[str, Widget] = field(factory=dict)
    activities: dict[str, Activity] = field(factory=dict)
    dialogs: list[Dialog] = field(factory=list)
    title: str | None = None
    now: float = field(default=0.0, eq=False)
    explain: Callable[[str], str] = field(default=str, eq=False)
    answering: dict[int, Block] = field(factory=dict)
    unfinished: dict[str, Tool] = field(factory=dict)
    commands: dict[str, Bash] = field(factory=dict)
    _cleaners: dict[str, CleanStream] = field(factory=dict, eq=False)
    _numbers: dict[str, int] = field(factory=dict, eq=False)
    _next: int = 0

    def add(self, make: Callable[..., B], /, **fields: Any) -> B:
        """Append a block with a new id."""
        block = make(id=f"b{self._next}", **fields)
        self._numbers[f"b{self._next}"] = len(self.blocks)
        self._next += 1
        self.blocks.append(block)  # type: ignore[arg-type] # only blocks are made
        return block

    def remove(self, block: Block) -> Changes:
        """Remove a block."""
        self.blocks = [each for each in self.blocks if each is not block]
        self._numbers = {each.id: number for number, each in enumerate(self.blocks)}
        return Changes(removed=frozenset((block.id,)))

    def arrange(self, blocks: Sequence[Block]) -> Changes:
        """Reorder the given blocks within the positions that they occupy; other blocks stay where they are."""
        places = [self._numbers[block.id] for block in blocks]
        moved = [(place, block) for place, block in zip(sorted(places), blocks, strict=True)]
        moved = [(place, block) for place, block in moved if self.blocks[place] is not block]
        for place, block in moved:
            self.blocks[place] = block
            self._numbers[block.id] = place
        return changed(*(block for _, block in moved))

    def block(self, block_id: str) -> Block | None:
        """Return a block by its id."""
        number = self._numbers.get(block_id)
        return None if number is None else self.blocks[number]

    def number(self, block_id: str) -> int | None:
        """Return the index of a block in ``blocks``."""
        return self._numbers.get(block_id)

    def cleaner(self, block: Block, *, output: bool = False) -> CleanStream:
        """Return the stream that cleans what a block receives; it is reused until ``forget_cleaner``."""
        return self._cleaners.setdefault(block.id, CleanStream(output=output))

    def forget_cleaner(self, block: Block) -> None:
        """Drop the stream of a block that is complete."""
        self._cleaners.pop(block.id, None)

    def clear(self) -> None:
        """Drop the conversation: blocks, queue and work; ids are not reused. Texts of plugins stay."""
        self.blocks = []
        self.queue = Queue()
        self.work = Work(message=self.work.message)
        self.answering = {}
        self.unfinished = {}
        self.commands = {}
        self._cleaners = {}
        self._numbers = {}


def changed(*blocks: Block) -> Changes:
    """Increase the revision of blocks, and return the change."""
    for block in blocks:
        block.revision += 1
    return Changes(frozenset([block.id for block in blocks]))
