"""Usage limits of one call of a program, and the meter that enforces them."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from attrs import Factory, fields

from pi_hookspecs import ToolCallResult, Usage, UsageLimitExceeded
from pi_hookspecs.deferred import define, frozen
from pi_hookspecs.values import ReprMixin, Value

if TYPE_CHECKING:
    from pi_hookspecs import AssistantMessage

__all__ = ["UsageLimits", "UsageMeter"]


@frozen(kw_only=True, eq=False, repr=False)
class UsageLimits(Value):
    """Limits of what one prompt may use, including everything that it causes; None means no limit.

    The limits are checked before every request to a model and before the tool calls of an answer: existing results are
    kept, and work beyond a limit is not begun. So the last request may exceed the limits of tokens and cost, and an
    answer without tool calls is returned whatever it cost.

    Attributes:
        requests: Requests to models, including failed and repeated ones.
        input_tokens: Tokens of the requests, including cached tokens.
        output_tokens: Tokens of the answers.
        total_tokens: The sum of input and output tokens.
        tool_calls: Tool calls, including calls that tools make.
        cost: US dollars, by the known prices of the models.

    Raises:
        ValueError: A limit is not a number of zero or more.
    """

    requests: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    tool_calls: int | None = None
    cost: float | None = None

    def __attrs_post_init__(self) -> None:
        for each in fields(UsageLimits):
            limit = getattr(self, each.name)
            whole = each.name != "cost"
            number = isinstance(limit, int if whole else int | float) and not isinstance(limit, bool)
            if limit is not None and not (number and limit >= 0):
                kind = "a whole number" if whole else "a number of US dollars"
                raise ValueError(f"The limit {each.name}={limit!r} is not {kind} of zero or more")


@define(eq=False, repr=False)
class UsageMeter(ReprMixin):
    """Counts the usage of a prompt and checks it against the limits.

    Attributes:
        exceeded: Set when work was not begun because of a limit.
    """

    limits: UsageLimits
    requests: int = 0
    tool_calls: int = 0
    usage: Usage = Factory(Usage)
    exceeded: UsageLimitExceeded | None = None
    _batch: AssistantMessage | None = None

    def add(self, usage: Usage | None) -> None:
        """Add the tokens and the cost of an answer, or of work inside a tool."""
        if usage is not None:
            self.usage += usage

    def begin_request(self) -> None:
        """Count a request that is about to be made.

        Raises:
            UsageLimitExceeded: The request would exceed a limit.
        """
        self._begin(requests=1)
        if self.exceeded is not None:
            raise self.exceeded

    def refuse_call(self, answer: AssistantMessage) -> ToolCallResult | None:
        """Return the refusal of a tool call; None if the call may run.

        The calls of one answer run together or not at all, because half a batch is rarely what the model intended.
        """
        if answer is not self._batch:
            self._batch = answer
            self._begin(tool_calls=len(answer.tool_calls))
        return self._refusal()

    def refuse_nested_call(self) -> ToolCallResult | None:
        """Return the refusal of a call that a tool makes; None if the call may run."""
        self._begin(tool_calls=1)
        return self._refusal()

    def _refusal(self) -> ToolCallResult | None:
        return None if self.exceeded is None else ToolCallResult(block=True, reason=f"Not run: {self.exceeded}")

    def _begin(self, *, requests: int = 0, tool_calls: int = 0) -> None:
        if self.exceeded is None:
            self.exceeded = self._reached(requests, tool_calls)
        if self.exceeded is None:
            self.requests += requests
            self.tool_calls += tool_calls

    def _reached(self, requests: int, tool_calls: int) -> UsageLimitExceeded | None:
        """Return the limit that forbids this many more requests or calls, or a used-up limit of tokens or cost."""
        sent = self.usage.input + self.usage.cache_read + self.usage.cache_write
        reached = {
            "requests": requests and self.requests + requests > _most(self.limits.requests),
            "tool_calls": tool_calls and self.tool_calls + tool_calls > _most(self.limits.tool_calls),
            "input_tokens": sent >= _most(self.limits.input_tokens),
            "output_tokens": self.usage.output >= _most(self.limits.output_tokens),
            "total_tokens": sent + self.usage.output >= _most(self.limits.total_tokens),
            "cost": self.usage.cost.total >= _most(self.limits.cost),
        }
        name = next((name for name, is_reached in reached.items() if is_reached), None)
        if name is None:
            return None
        message = (
            f"The usage limit {name}={getattr(self.limits, name)!r} is reached. Used so far: requests={self.requests},"
            f" tool_calls={self.tool_calls}, input_tokens={sent}, output_tokens={self.usage.output},"
            f" cost={self.usage.cost.total:.6g}. Raise the limit, or ask for less at once."
        )
        return UsageLimitExceeded(
            message, limit=name, requests=self.requests, tool_calls=self.tool_calls, usage=self.usage
        )


def _most(limit: float | None) -> float:
    return inf if limit is None else limit
