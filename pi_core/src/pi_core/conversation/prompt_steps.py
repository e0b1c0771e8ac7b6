"""The steps of a prompt: command, input, before the run, and the boundary where it settles or runs on.

What happens inside the run is the agent's; what a session is, the session's.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from pi_core.conversation.event_copies import LazyCopies
from pi_core.conversation.hook_bridge import custom_message
from pi_core.conversation.outbox import user_message
from pi_core.conversation.user_calls import run_command
from pi_hookspecs import AgentBusy, AgentSettledEvent, MessageEndEvent, MessageStartEvent, UserMessage, text_of
from pi_hookspecs.specs import agent as agent_specs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pi_core.conversation import AgentSession
    from pi_core.conversation.prompt_call import PromptCall
    from pi_core.conversation.prompt_gate import PromptGate
    from pi_hookspecs import AbortSignal, AgentMessage, AssistantMessage, CustomMessage, ImageContent, NewEntry

__all__ = ["PromptSteps"]

_BUSY = (
    "A prompt of this session is being answered. Wait for it, leave its stream (await stream.aclose()), or use another"
    " session; steer() and follow_up() say something to the prompt that is being answered."
)


class PromptSteps:
    """Takes a session's prompts from text to settled.

    Args:
        session: Whose prompts.
        gate: Lets one prompt in at a time.
    """

    def __init__(self, session: AgentSession, gate: PromptGate) -> None:
        self._session = session
        self._gate = gate

    async def prompt(
        self,
        prompt: str | AgentMessage | Iterable[AgentMessage],
        *,
        images: Sequence[ImageContent] = (),
        behavior: Literal["steer", "followUp"] | None = None,
        source: str = "interactive",
        expand: bool = True,
        on_accepted: Callable[[Literal["started", "queued", "handled"]], object] = bool,
        call: PromptCall | None = None,
    ) -> AssistantMessage | None:
        """Answer a prompt, see ``AgentSession.prompt``; ``call`` is what a program asked of it beyond its text."""
        session = self._session
        await session.start()
        await session.left_stream_settled()
        if not session.is_streaming:
            session.hooks.forget_last_hook()
            await session.parts.ready_for_prompt()
        if isinstance(prompt, str):
            said = await self.text_of_user(prompt, tuple(images), source, behavior, expand=expand)
            if said is None:
                on_accepted("handled")
                return None
            messages: list[AgentMessage] = [user_message(*said)]
        else:
            messages = _listed(prompt)
            said = "\n".join(text_of(each.content) for each in messages if isinstance(each, UserMessage)), ()
        if session.is_streaming:
            if call is not None:
                raise AgentBusy(_BUSY)
            session.sending.queue(messages, behavior)
            on_accepted("queued")
            return None
        session.models.check(session.required_model())
        session.parts.take_deferred()
        waiting = session.sending.take_waiting()
        with session.settings.held(), self._gate.prompt(call) as stop:
            on_accepted("started")
            await self.run([*messages, *waiting], *said, stop)
        if call is not None:
            call.raise_if_exceeded()
        return session.last_answer()

    async def text_of_user(
        self,
        text: str,
        images: tuple[ImageContent, ...],
        source: str,
        behavior: Literal["steer", "followUp"] | None,
        *,
        expand: bool,
    ) -> tuple[str, tuple[ImageContent, ...]] | None:
        """Return what the user said as plugins left it; None when a command or a plugin dealt with it."""
        if expand and await self.command(text):
            return None
        with self._kept([user_message(text, images)]):
            said = await self.input(text, images, source, behavior)
        if said is None or not expand:
            return said
        return await self.expand(said[0]), said[1]

    async def command(self, text: str) -> bool:
        """Run the slash command that a text is; False when it is none."""
        return text.startswith("/") and await run_command(self._session, text)

    async def input(
        self, text: str, images: tuple[ImageContent, ...], source: str, behavior: Literal["steer", "followUp"] | None
    ) -> tuple[str, tuple[ImageContent, ...]] | None:
        """Return what was said as the plugins left it; None when one of them dealt with it."""
        session = self._session
        if not session.hooks.listens("input"):
            return text, images
        from pi_hookspecs import InputEvent

        event = InputEvent(text=text, images=images, source=source, streaming_behavior=behavior)
        answer = await session.hooks.call(agent_specs.input, event, session.ctx)
        if answer is None:
            return text, images
        if answer.handled:
            return None
        return (
            text if answer.text is None else answer.text,
            images if answer.images is None else tuple(answer.images),
        )

    async def expand(self, text: str) -> str:
        """Return what a text that begins with a slash stands for: a skill, a template."""
        session = self._session
        if not text.startswith("/") or not session.hooks.listens("expand_prompt"):
            return text
        from pi_hookspecs import ExpandPromptEvent

        answer = await session.hooks.call(agent_specs.expand_prompt, ExpandPromptEvent(text=text), session.ctx)
        return text if answer is None else answer.text

    async def run(
        self, messages: Sequence[AgentMessage], text: str, images: tuple[ImageContent, ...], stop: AbortSignal
    ) -> None:
        """Run a prompt until it has settled."""
        session = self._session
        try:
            with self._kept(messages):
                injected = await self.before_agent_start(text, images)
            await session.agent.prompt([*messages, *injected])
            await self.run_on_as_long_as_wanted(stop)
        finally:
            await self.settle(stop)

    @contextmanager
    def _kept(self, messages: Sequence[AgentMessage]) -> Iterator[None]:
        """Store messages, which nothing will answer, where the block before their run is cancelled or fails.

        Nothing is stored before the first answer otherwise, and what the user wrote would be lost.
        """
        session = self._session
        try:
            yield
        except BaseException:
            if not session.agent.state.is_streaming:
                for message in messages:
                    session.agent.append_message(message)
                    session.session_manager.append_message(message)
                session.session_manager.begin_storing()
            raise

    async def resume(self, stop: AbortSignal) -> None:
        """Go on from the transcript until that has settled."""
        try:
            await self._session.agent.continue_()
            await self.run_on_as_long_as_wanted(stop)
        finally:
            await self.settle(stop)

    async def before_agent_start(self, text: str, images: tuple[ImageContent, ...]) -> tuple[CustomMessage, ...]:
        """Let plugins change this run's system prompt and return the messages that they add."""
        session = self._session
        session.prompt_record.base = built = await session.system_prompts.build()
        base = built.text
        self._set_system_prompt(base)
        if not session.hooks.listens("before_agent_start"):
            return ()
        from pi_hookspecs import BeforeAgentStartEvent

        event = BeforeAgentStartEvent(prompt=text, images=images, system_prompt=base)
        answer = await session.hooks.call(agent_specs.before_agent_start, event, session.ctx)
        if answer is None:
            return ()
        if answer.system_prompt is not None:
            self._set_system_prompt(answer.system_prompt)
        return answer.messages

    def _set_system_prompt(self, text: str) -> None:
        call = self._gate.call
        self._session.agent.set_system_prompt(text if call is None else call.instruct(text))

    async def run_on_as_long_as_wanted(self, stop: AbortSignal) -> None:
        """Run again for what was queued too late for the run, and for as long as a plugin wants it."""
        agent = self._session.agent
        while True:
            if await self._session.retry.again(stop):
                await agent.run_on()
            elif self.owes_an_answer(stop):
                await agent.continue_()
            elif await self.wanted(stop):
                self._session.drop_failed_answer()
                await agent.run_on()
            elif not self.owes_an_answer(stop):  # something may have been said while plugins were asked
                return

    def owes_an_answer(self, stop: AbortSignal) -> bool:
        """Whether messages are queued that this prompt is to answer."""
        return self.outcome(stop) == "completed" and self._session.has_queued_messages()

    async def wanted(self, stop: AbortSignal) -> bool:
        """Ask at the boundary before settling; an aborted prompt does not go on, whatever the answer."""
        session = self._session
        if not session.hooks.listens("agent_before_settle"):
            return False
        from pi_hookspecs import AgentBeforeSettleEvent

        event = AgentBeforeSettleEvent(
            outcome=self.outcome(stop),
            messages=LazyCopies(session.messages),
            entries=session.session_manager.get_branch(records=False),
        )
        wish = await session.hooks.call(agent_specs.agent_before_settle, event, session.ctx)
        if wish is None:
            return False
        await self.add_entries(wish.entries)
        return bool(wish.continue_) and self.outcome(stop) != "aborted"

    def outcome(self, stop: AbortSignal) -> Literal["completed", "error", "aborted"]:
        """Return how the prompt stands after its latest run."""
        answer = self._session.last_answer()
        reason = answer.stop_reason if answer is not None else "error"
        if stop.aborted or reason == "aborted":
            return "aborted"
        return "error" if reason == "error" else "completed"

    async def settle(self, stop: AbortSignal) -> None:
        """Tell plugins, then subscribers, that the prompt is done; by then another one may begin."""
        session = self._session
        settled = AgentSettledEvent(aborted=self.outcome(stop) == "aborted")
        await session.hooks.notify(settled, session.ctx)
        session.free()
        await session.listeners.emit(settled, None)

    async def add_entries(self, entries: Iterable[NewEntry]) -> None:
        """Append entries that plugins asked for; those with content reach the model with the next request."""
        session = self._session
        for entry in entries:
            if entry.content is None:
                session.append_entry(entry.custom_type, entry.data)
                continue
            message: Any = custom_message(entry)
            await session.listeners.emit(MessageStartEvent(message=message), session.signal)
            session.agent.append_message(message)
            session.session_manager.append_message(message)
            await session.listeners.emit(MessageEndEvent(message=message), session.signal)


def _listed(prompt: AgentMessage | Iterable[AgentMessage]) -> list[AgentMessage]:
    messages = list(prompt) if isinstance(prompt, Iterable) else [prompt]
    for each in messages:
        if not hasattr(each, "role"):
            raise TypeError(f"A prompt is a text, a message or messages, not {prompt!r:.200}")
    return messages
