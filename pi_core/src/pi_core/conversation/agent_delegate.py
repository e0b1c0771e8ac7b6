"""What a session passes on to its agent: what it is, what it holds, what is queued."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import AssistantMessage, NoModel, Usage

if TYPE_CHECKING:
    from pi_core.agent.agent import Agent, AgentState
    from pi_core.agent.queue import QueueMode
    from pi_hookspecs import AgentMessage, Model, ThinkingLevel

__all__ = ["AgentDelegate"]


class AgentDelegate:
    """Reads and queue methods of the agent inside."""

    agent: Agent

    @property
    def state(self) -> AgentState:
        """What the agent is and does now."""
        return self.agent.state

    @property
    def model(self) -> Model | None:
        """Who answers."""
        return self.agent.state.model

    def required_model(self) -> Model:
        """Return who answers.

        Raises:
            NoModel: Nobody was chosen.
        """
        if self.model is None:
            raise NoModel("No model selected. Choose one with --model PROVIDER/ID or the setting defaultModel.")
        return self.model

    @property
    def thinking_level(self) -> ThinkingLevel:
        """How hard it thinks."""
        return self.agent.state.thinking_level

    @property
    def system_prompt(self) -> str:
        """The system prompt as the next request would send it."""
        return self.agent.state.system_prompt

    @property
    def messages(self) -> list[Any]:
        """The conversation as the model is told it."""
        return self.agent.state.messages

    @property
    def usage(self) -> Usage:
        """Tokens and cost of every answer so far."""
        answers = (message for message in self.messages if isinstance(message, AssistantMessage))
        return sum((answer.usage for answer in answers), Usage())

    def last_answer(self) -> AssistantMessage | None:
        """Return the last assistant message; None before the first."""
        for message in reversed(self.agent.state.messages):
            if isinstance(message, AssistantMessage):
                return message
        return None

    @property
    def steering_mode(self) -> QueueMode:
        """How many steering messages are delivered at a time."""
        return self.agent.steering_mode

    @steering_mode.setter
    def steering_mode(self, mode: QueueMode) -> None:
        self.agent.steering_mode = mode

    def set_steering_mode(self, mode: QueueMode) -> None:
        """Set ``steering_mode``, in this session."""
        self.steering_mode = mode

    @property
    def follow_up_mode(self) -> QueueMode:
        """How many follow-ups are delivered at a time."""
        return self.agent.follow_up_mode

    @follow_up_mode.setter
    def follow_up_mode(self, mode: QueueMode) -> None:
        self.agent.follow_up_mode = mode

    def set_follow_up_mode(self, mode: QueueMode) -> None:
        """Set ``follow_up_mode``, in this session."""
        self.follow_up_mode = mode

    def reset(self) -> None:
        """Forget conversation, queues and error; what is stored of the session stays.

        Raises:
            AgentBusy: A run is going on.
        """
        self.agent.reset()

    def clear_steering_queue(self) -> list[AgentMessage]:
        """Drop the steering messages and return them."""
        return self.agent.clear_steering_queue()

    def clear_follow_up_queue(self) -> list[AgentMessage]:
        """Drop the follow-ups and return them."""
        return self.agent.clear_follow_up_queue()

    def clear_all_queues(self) -> list[AgentMessage]:
        """Drop all queued messages and return them, steering first."""
        return self.agent.clear_all_queues()

    def has_queued_messages(self) -> bool:
        """Whether either queue holds a message."""
        return self.agent.has_queued_messages()

    def peek_queued_messages(self) -> tuple[tuple[AgentMessage, ...], tuple[AgentMessage, ...]]:
        """Return the steering messages and the follow-ups, without taking them."""
        return self.agent.peek_queued_messages()
