"""``PromptCall``: what a program requests of a prompt in addition to its text, usage limits and a type of answer.

The prompt in progress has it as ``runtime.gate.call``; it is read before each request and each tool call.
"""

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
        limits: The usage limits.
        output: The format of the answer; None for text.

    Attributes:
        meter: The usage so far.
    """

    def __init__(self, limits: UsageLimits | None = None, output: OutputFormat | None = None) -> None:
        self.meter = UsageMeter(limits or UsageLimits())
        self.output = output

    def instruct(self, system_prompt: str) -> str:
        """Return the system prompt with the instruction about the output format."""
        return system_prompt if self.output is None else system_prompt + self.output.instruction

    def options(self, options: StreamOptions) -> StreamOptions:
        """Return the options of a request of the conversation."""
        return options if self.output is None else evolve(options, output_schema=self.output.schema)

    def add(self, message: AgentMessage) -> None:
        """Count the usage of a message of the conversation."""
        self.meter.add(getattr(message, "usage", None))

    def raise_if_exceeded(self) -> None:
        """Raise if a limit stopped the call.

        Raises:
            UsageLimitExceeded: A limit stopped the call.
        """
        if self.meter.exceeded is not None:
            raise self.meter.exceeded
