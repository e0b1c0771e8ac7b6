"""What a program asked of one prompt beyond its text: its limits, and the data that the answer is to be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve

from pi_core.conversation.usage_limits import UsageLimits, UsageMeter

if TYPE_CHECKING:
    from pi_core.conversation.structured_output import OutputFormat
    from pi_hookspecs import AgentMessage, StreamOptions

__all__ = ["PromptCall"]


class PromptCall:
    """One call of a program, which may take several prompts of the session.

    Args:
        limits: What it may use.
        output: What its answer is to be; a text when None.

    Attributes:
        meter: What it has used.
    """

    def __init__(self, limits: UsageLimits | None = None, output: OutputFormat | None = None) -> None:
        self.meter = UsageMeter(limits or UsageLimits())
        self.output = output

    def instruct(self, system_prompt: str) -> str:
        """Return the system prompt with what it has to say about the output."""
        return system_prompt if self.output is None else system_prompt + self.output.instruction

    def options(self, options: StreamOptions) -> StreamOptions:
        """Return the options of a request of the conversation."""
        return options if self.output is None else evolve(options, output_schema=self.output.schema)

    def add(self, message: AgentMessage) -> None:
        """Count what a message of the conversation has used."""
        self.meter.add(getattr(message, "usage", None))

    def raise_if_exceeded(self) -> None:
        """Raise where the call was stopped by a limit.

        Raises:
            UsageLimitExceeded: It was.
        """
        if self.meter.exceeded is not None:
            raise self.meter.exceeded
