"""The pipeline of every prompt: command, input, expansion, gate, run, retry, settle."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Literal, cast

from pi_core.conversation.event_copies import LazyCopies
from pi_core.conversation.message_queue import user_message
from pi_hookspecs import AgentBusy, AgentSettledEvent, PiError, UserError, UserMessage, text_of
from pi_hookspecs.specs import agent as agent_specs

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

    from pi_core.conversation.commands import PluginCommands
    from pi_core.conversation.message_queue import MessageQueue
    from pi_core.conversation.offered_tools import OfferedTools
    from pi_core.conversation.prompt_call import PromptCall
    from pi_core.conversation.retry import Retry
    from pi_core.conversation.runtime import Runtime
    from pi_core.conversation.system_prompts import PromptRecord
    from pi_hookspecs import AbortSignal, AgentMessage, AssistantMessage, CustomMessage, ImageContent, Model

__all__ = ["PromptTurns"]

_BUSY = (
    "A prompt of this session is being answered. Wait for it, leave its stream (await stream.aclose()), or use another"
    " session; to add something to the prompt that is being answered, call steer() or follow_up()."
)


class PromptTurns:
    """Processes prompts from their text until they settle, one at a time.

    Args:
        runtime: The objects that all parts share.
        commands: Runs slash commands.
        queue: The messages that are queued or wait for the next prompt.
        retry: Repeats failed requests.
        record: Stores the system prompt of each run.
        tools: The offered tools.
        replace_model: Uses another model without recording that it was selected.
        ready: Waits until a prompt may begin: the session has started, and no compaction or reload is running.
    """

    def __init__(
        self,
        runtime: Runtime,
        *,
        commands: PluginCommands,
        queue: MessageQueue,
        retry: Retry,
        record: PromptRecord,
        tools: OfferedTools,
        replace_model: Callable[[Model], Awaitable[None]],
        ready: Callable[[], Awaitable[None]],
    ) -> None:
        self._runtime = runtime
        self._commands = commands
        self._queue = queue
        self._retry = retry
        self._record = record
        self._tools = tools
        self._replace_model = replace_model
        self._ready = ready
        self._late: asyncio.Task[None] | None = None

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
        trace_context: Mapping[str, str] | None = None,
    ) -> AssistantMessage | None:
        """Answer a prompt; see ``AgentSession.prompt``. ``call`` contains a program's limits and output format."""
        runtime = self._runtime
        await self._ready()
        if isinstance(prompt, str):
            text = await self._text_of_user(prompt, tuple(images), source, behavior, expand=expand)
            if text is None:
                on_accepted("handled")
                return None
            messages: list[AgentMessage] = [user_message(*text)]
        else:
            messages = _listed(prompt)
            text = "\n".join(text_of(each.content) for each in messages if isinstance(each, UserMessage)), ()
        if runtime.is_streaming:
            if call is not None:
                raise AgentBusy(_BUSY)
            self._queue.add(messages, behavior)
            on_accepted("queued")
            return None
        await self._check_model()
        runtime.transcript.keep_deferred()
        waiting = self._queue.take_for_next_turn()
        with runtime.settings.held(), runtime.gate.prompt(call, trace_context) as stop:
            on_accepted("started")
            await self._run([*messages, *waiting], *text, stop)
        if call is not None:
            call.raise_if_exceeded()
        return runtime.transcript.last_answer()

    async def resume(self) -> AssistantMessage | None:
        """Continue from the transcript until the run has settled; see ``AgentSession.continue_``."""
        runtime = self._runtime
        await self._ready()
        if runtime.is_streaming:
            raise AgentBusy("Agent is already processing. Wait for completion before continuing.")
        await self._check_model()
        with runtime.gate.prompt() as stop:
            try:
                await runtime.agent.continue_()
                await self._run_until_settled(stop)
            finally:
                await self._settle(stop)
        return runtime.transcript.last_answer()

    async def _check_model(self) -> None:
        """Check that the model can answer; a virtual model that is gone is replaced by the model that answered last.

        Raises:
            PiError: There is no model, or it cannot answer.
        """
        runtime = self._runtime
        model = runtime.required_model()
        if model.is_virtual and runtime.models.virtual(model) is None:
            from pi_core.conversation.routing import answering_model

            answer = runtime.manager.last_answer()
            answering = answering_model(runtime.models, answer) if answer is not None else None
            if answering is not None:
                text = f"No plugin registers {model.reference} any more. {answering.reference}, which answered last,"
                runtime.ctx.ui.notify(f"{text} goes on.", "warning")
                await self._replace_model(answering)
        runtime.models.check(runtime.required_model())

    async def expand(self, text: str) -> str:
        """Return the expansion of a text that begins with a slash and names a skill or a template."""
        runtime = self._runtime
        if not text.startswith("/") or not runtime.hooks.listens("expand_prompt"):
            return text
        from pi_hookspecs import ExpandPromptEvent

        answer = await runtime.hooks.call(agent_specs.expand_prompt, ExpandPromptEvent(text=text), runtime.ctx)
        return text if answer is None else answer.text

    # From text to messages

    async def _text_of_user(
        self,
        text: str,
        images: tuple[ImageContent, ...],
        source: str,
        behavior: Literal["steer", "followUp"] | None,
        *,
        expand: bool,
    ) -> tuple[str, tuple[ImageContent, ...]] | None:
        """Return the user's text as changed by plugins; None if a command or a plugin handled it."""
        if expand and text.startswith("/") and await self._commands.run(text):
            return None
        with self._kept([user_message(text, images)]):
            changed = await self._input(text, images, source, behavior)
        if changed is None or not expand:
            return changed
        expanded = await self.expand(changed[0])
        if expanded == text and text.startswith("/"):
            self._check_command(text)
        return expanded, changed[1]

    def _check_command(self, text: str) -> None:
        """Refuse a command that is missing for a reason, which a model would take for a request.

        Raises:
            UserError: A plugin has the command, and is disabled or waits for something.
        """
        name = text[1:].split(maxsplit=1)[0] if text[1:2].strip() else ""
        why = self._runtime.host.why_no_command(name) if name else None
        if why is not None:
            raise UserError(why)

    async def _input(
        self, text: str, images: tuple[ImageContent, ...], source: str, behavior: Literal["steer", "followUp"] | None
    ) -> tuple[str, tuple[ImageContent, ...]] | None:
        """Call the ``input`` hook; return None if a plugin handled the text."""
        runtime = self._runtime
        if not runtime.hooks.listens("input"):
            return text, images
        from pi_hookspecs import InputEvent

        event = InputEvent(text=text, images=images, source=source, streaming_behavior=behavior)
        # Plugins such as the one for MCP servers add tools before a run; a run in progress gets new ones at once.
        with nullcontext() if runtime.is_streaming else self._tools.held():
            answer = await runtime.hooks.call(agent_specs.input, event, runtime.ctx)
        if answer is None:
            return text, images
        if answer.handled:
            return None
        return (
            text if answer.text is None else answer.text,
            images if answer.images is None else tuple(answer.images),
        )

    @contextmanager
    def _kept(self, messages: Sequence[AgentMessage]) -> Iterator[None]:
        """Store messages that will not be answered because the block before their run is cancelled or fails.

        No run adds them, so that the user's text would be lost otherwise.
        """
        runtime = self._runtime
        try:
            yield
        except BaseException:
            if not runtime.agent.state.is_streaming:
                for message in messages:
                    runtime.transcript.keep(message)
                runtime.manager.begin_storing()
            raise

    # The run

    async def _run(
        self, messages: Sequence[AgentMessage], text: str, images: tuple[ImageContent, ...], stop: AbortSignal
    ) -> None:
        try:
            with self._kept(messages):
                injected = await self._before_agent_start(text, images, _starting(messages))
            await self._runtime.agent.prompt([*messages, *injected])
            await self._run_until_settled(stop)
        finally:
            await self._settle(stop)

    async def _before_agent_start(
        self, text: str, images: tuple[ImageContent, ...], message: CustomMessage | None
    ) -> tuple[CustomMessage, ...]:
        """Let plugins change this run's system prompt and return the messages that they add."""
        runtime = self._runtime
        self._record.base = built = await runtime.prompts.build()
        base = built.text
        self._set_system_prompt(base)
        if not runtime.hooks.listens("before_agent_start"):
            return ()
        from pi_hookspecs import BeforeAgentStartEvent

        trace_context = dict(runtime.gate.trace_context)
        event = BeforeAgentStartEvent(
            prompt=text, images=images, system_prompt=base, trace_context=trace_context, message=message
        )
        answer = await runtime.hooks.call(agent_specs.before_agent_start, event, runtime.ctx)
        if answer is None:
            return ()
        if answer.system_prompt is not None:
            self._set_system_prompt(answer.system_prompt)
        return answer.messages

    def _set_system_prompt(self, text: str) -> None:
        call = self._runtime.gate.call
        self._runtime.agent.set_system_prompt(text if call is None else call.instruct(text))

    async def _run_until_settled(self, stop: AbortSignal) -> None:
        """Run again for retries, for messages that were queued too late, and as long as a plugin requests it."""
        runtime = self._runtime
        while True:
            if await self._retry.wait_for_retry(stop):
                await runtime.agent.run_on()
            elif self._has_queued_messages(stop):
                await runtime.agent.continue_()
            elif await self._should_continue(stop):
                runtime.transcript.drop_failed_answer()
                await runtime.agent.run_on()
            elif not self._has_queued_messages(stop):  # messages may have been queued while the hooks were called
                return

    def _has_queued_messages(self, stop: AbortSignal) -> bool:
        """Whether messages are queued that this prompt must answer."""
        return self._outcome(stop) == "completed" and self._runtime.agent.has_queued_messages()

    async def _should_continue(self, stop: AbortSignal) -> bool:
        """Call ``agent_before_settle``; an aborted prompt does not continue, regardless of the answer."""
        runtime = self._runtime
        if not runtime.hooks.listens("agent_before_settle"):
            return False
        from pi_hookspecs import AgentBeforeSettleEvent

        event = AgentBeforeSettleEvent(
            outcome=self._outcome(stop),
            messages=LazyCopies(runtime.agent.state.messages),
            entries=runtime.manager.get_branch(records=False),
        )
        answer = await runtime.hooks.call(agent_specs.agent_before_settle, event, runtime.ctx)
        if answer is None:
            return False
        await runtime.transcript.append_entries(answer.entries, runtime.signal)
        return bool(answer.continue_) and self._outcome(stop) != "aborted"

    def _outcome(self, stop: AbortSignal) -> Literal["completed", "error", "aborted"]:
        """Return the outcome of the prompt after its latest run."""
        answer = self._runtime.transcript.last_answer()
        reason = answer.stop_reason if answer is not None else "error"
        if stop.aborted or reason == "aborted":
            return "aborted"
        return "error" if reason == "error" else "completed"

    async def _settle(self, stop: AbortSignal) -> None:
        """Emit ``agent_settled``, to plugins first; subscribers may begin the next prompt."""
        runtime = self._runtime
        settled = AgentSettledEvent(aborted=self._outcome(stop) == "aborted")
        await runtime.hooks.notify(settled, runtime.ctx)
        runtime.gate.free()
        runtime.transcript.keep_deferred()
        if runtime.bridge.requests.warming is not None:
            runtime.bridge.requests.warming.on_settled(settled)
        if self._queue.owes_answer():  # no run takes them: this one was aborted before they came
            self._late = asyncio.create_task(self._answer_late())
        await runtime.events.emit(settled, None)

    async def _answer_late(self) -> None:
        """Answer messages that were sent after the abort of a prompt, before it had ended."""
        try:
            await self._runtime.gate.empty()
            await self.resume()
        except AgentBusy:  # another prompt has begun, which takes them
            return
        except PiError as error:
            self._runtime.report_plugin_error("(session)", "queue", str(error))


def _starting(messages: Sequence[AgentMessage]) -> CustomMessage | None:
    """Return the plugin's message that starts a run; None if the user does."""
    if any(each.role == "user" for each in messages):
        return None
    found = next((each for each in messages if each.role == "custom"), None)
    return cast("CustomMessage | None", found)


def _listed(prompt: AgentMessage | Iterable[AgentMessage]) -> list[AgentMessage]:
    messages = list(prompt) if isinstance(prompt, Iterable) else [prompt]
    for each in messages:
        if not hasattr(each, "role"):
            raise TypeError(f"A prompt must be a string, a message or a sequence of messages, not {prompt!r:.200}")
    return messages
