"""What programs and plugins may do with a session beside prompting: its conversation, commands, messages, name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import pi_hookspecs  # as in compaction.py
from pi_hookspecs import UserError, UserMessage

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from pathlib import Path

    from pi_core.agent.subscribers import Listener
    from pi_core.conversation.outbox import Sending
    from pi_core.conversation.parts import SessionParts
    from pi_core.conversation.switching import ForkOutcome
    from pi_core.plugin_api.event_bus import Bus
    from pi_core.plugin_api.registrations import SessionRegistrations
    from pi_core.session import SessionManager
    from pi_hookspecs import (
        AbortSignal,
        AssistantMessage,
        BashExecutionMessage,
        CommandInfo,
        CustomEntry,
        CustomMessage,
        ExecResult,
        ExtensionErrorEvent,
        Shortcut,
        UserInterface,
    )
    from pi_hookspecs.messages import UserContent

__all__ = ["SessionActions"]


class SessionActions:
    """Methods of ``AgentSession`` for those who drive it."""

    sending: Sending
    session_manager: SessionManager
    parts: SessionParts
    cwd: Path
    flags: dict[str, bool | str | None]
    registered: SessionRegistrations
    ui: UserInterface
    has_ui: bool
    shutdown_requested: asyncio.Event

    # Another conversation in place of this one

    async def new_session(
        self,
        *,
        parent_session: str | None = None,
        setup: Callable[[SessionManager], Awaitable[None] | None] | None = None,
    ) -> bool:
        """Begin a new conversation; a run that is going on is aborted. Listeners and plugins stay.

        Args:
            parent_session: File that the new session says it comes from.
            setup: Gets the new session before plugins are told of it, to put entries in.

        Returns:
            False when a plugin cancelled it.
        """
        return await self.parts.replacing.new(parent_session, setup)

    async def switch_session(self, session_path: str | Path) -> bool:
        """Go over to a stored conversation, with its model and thinking level; False when a plugin cancelled it.

        Raises:
            UserError: It is no session; the present one stays.
        """
        return await self.parts.replacing.switch(session_path)

    async def import_from_jsonl(self, path: str | Path) -> bool:
        """Copy a session file to where sessions are kept, and go over to it; False when a plugin cancelled it.

        Raises:
            UserError: It is no session, one of its id is stored already, or it cannot be stored.
        """
        return await self.switch_session(self.session_manager.import_beside(path))

    async def fork(self, entry_id: str, position: Literal["before", "at"] = "before") -> ForkOutcome:
        """Go over to a copy of the conversation that ends before a message of the user, or ``at`` any entry.

        Raises:
            UserError: No such entry, or none of the user's.
        """
        return await self.parts.replacing.fork(entry_id, position)

    async def clone(self) -> bool:
        """Go over to a copy of the active branch; False when a plugin cancelled it.

        Raises:
            UserError: There is nothing to copy yet.
        """
        leaf = self.session_manager.leaf_id
        if leaf is None:
            raise UserError("Cannot clone session: no current entry selected")
        return not (await self.parts.replacing.fork(leaf, "at")).cancelled

    def get_user_messages_for_forking(self) -> list[tuple[str, str]]:
        """Return id and text of every message of the user on the branch, oldest first."""
        entries = self.session_manager.get_branch()
        said = ((each.id, getattr(each, "message", None)) for each in entries)
        return [(entry_id, message.text) for entry_id, message in said if isinstance(message, UserMessage)]

    # The user's own commands

    @property
    def is_bash_running(self) -> bool:
        """Whether a command of the user is running."""
        return self.parts.bash.is_running

    async def execute_bash(
        self,
        command: str,
        on_output: Callable[[str], object] | None = None,
        *,
        exclude_from_context: bool = False,
        operations: Any = None,
        id: str | None = None,  # noqa: A002 - the wire's name
    ) -> BashExecutionMessage:
        """Run a command of the user; the model is told with the next prompt, unless it is excluded.

        Args:
            command: For the shell.
            on_output: Takes what it prints, as it comes.
            exclude_from_context: Keep it in the session only (``!!``).
            operations: What runs it, elsewhere than on this machine; a plugin's answer to ``user_bash`` goes before.
            id: Told with every ``bash_execution_update``.

        Raises:
            PiError: A plugin refused it, or nobody can run it.
        """
        return await self.parts.bash.execute(
            command, on_output, exclude_from_context=exclude_from_context, operations=operations, id=id
        )

    def record_bash_result(self, message: BashExecutionMessage) -> None:
        """Make the result of a command that ran elsewhere part of the conversation."""
        self.parts.bash.record(message)

    def abort_bash(self) -> None:
        """Stop the user's commands that are running."""
        self.parts.abort_bash()

    # What can be called with a slash

    async def get_commands(self) -> tuple[CommandInfo, ...]:
        """Return plugins' commands, prompt templates, skills, and what else ``expand_prompt`` knows."""
        from pi_core.conversation.command_list import command_list

        return await command_list(self)

    def complete_command(self, name: str, text: str) -> tuple[str, ...]:
        """Return what the arguments of a plugin's command could become.

        Args:
            name: The command, without the slash.
            text: What is typed of its arguments.
        """
        from pi_core.conversation.user_calls import complete_command

        return complete_command(self, name, text)

    def get_shortcuts(self) -> tuple[Shortcut, ...]:
        """Return plugins' keys, for front ends that have keys."""
        return tuple(each.thing for each in self.registered.find_all("register_shortcuts").values())

    async def press_key(self, key: str) -> bool:
        """Do what a plugin's key does, by its name in ``get_shortcuts``; False when no plugin has it."""
        from pi_core.conversation.user_calls import press_key

        return await press_key(self, key)

    def render_custom(
        self, value: CustomMessage | CustomEntry, *, width: int, expanded: bool = False
    ) -> tuple[str, ...] | None:
        """Return the lines in which a plugin shows its message or entry.

        Returns:
            None where no plugin has a renderer for it, or it failed, which is reported: show the content itself.
        """
        from pi_core.conversation.user_calls import render_custom

        return render_custom(self, value, width=width, expanded=expanded)

    # Messages from programs and plugins

    async def send_user_message(
        self, content: str | Sequence[UserContent], *, deliver_as: Literal["steer", "followUp"] | None = None
    ) -> AssistantMessage | None:
        """Say something in the user's place: always a turn of its own, no command, no template.

        Raises:
            AgentBusy: A run is going on and ``deliver_as`` does not say how to queue.
        """
        return await self.sending.user_message(content, deliver_as)

    async def send_message(
        self,
        message: CustomMessage,
        *,
        trigger_turn: bool = False,
        deliver_as: Literal["steer", "followUp", "nextTurn"] | None = None,
    ) -> AssistantMessage | None:
        """Add a plugin's message: stored while idle, queued during a run, ``nextTurn`` with the user's next prompt.

        Args:
            message: What the model is told.
            trigger_turn: While idle, have it answered at once.
            deliver_as: How to queue it.
        """
        return await self.sending.custom_message(message, trigger_turn=trigger_turn, deliver_as=deliver_as)

    send_custom_message = send_message

    def get_steering_messages(self) -> tuple[str, ...]:
        """Return the text of what is queued for steering."""
        return self.sending.texts()[0]

    def get_follow_up_messages(self) -> tuple[str, ...]:
        """Return the text of what is queued as follow-ups."""
        return self.sending.texts()[1]

    def clear_queue(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Drop what is queued and return its text: for steering, and as follow-ups."""
        return self.sending.clear()

    @property
    def pending_message_count(self) -> int:
        """How many messages are queued."""
        return sum(map(len, self.sending.texts()))

    def append_entry(self, custom_type: str, data: Any = None) -> str:
        """Store plain data in the session, outside the model's context; returns the entry's id."""
        return self.session_manager.append_custom_entry(custom_type, data)

    # Plugins

    async def bind_extensions(
        self,
        *,
        ui: UserInterface | None = None,
        shutdown_handler: Callable[[], Awaitable[None] | None] | None = None,
        on_error: Callable[[ExtensionErrorEvent], Awaitable[None] | None] | None = None,
    ) -> None:
        """Give the plugins a front end and start the session: what a program that is one does first.

        There are no actions for commands to bind: the session puts another conversation in place itself.

        Args:
            ui: Who answers dialogs; nobody, or whom ``create_agent_session`` was given, when None.
            shutdown_handler: Called once, when a plugin has asked for the end and no prompt is being answered.
            on_error: Told of plugins that fail.

        Raises:
            PiError: The session has ended.
        """
        if ui is not None:
            self.ui, self.has_ui = ui, True
        if on_error is not None:
            self.subscribe(on_error, "extension_error")
        if shutdown_handler is not None:
            self.parts.call_at_shutdown(shutdown_handler)
        await self.start()

    async def until_shutdown(self) -> None:
        """Return when a plugin has asked for the end (``ctx.shutdown``) and no prompt is being answered."""
        await self.shutdown_requested.wait()
        await self.wait_for_idle()

    async def reload(self) -> None:
        """Load local extensions anew, read settings and resources again, and activate all plugins again.

        An extension that cannot be loaded any more goes on as it was before, and the reason is reported. Installed
        plugins are not imported again: Python cannot replace a module that others hold. Other sessions of the same
        host go on with the old versions until they are reloaded, too.

        Raises:
            UserError: A prompt is being answered, or the conversation compacted.
        """
        await self.parts.reloading.reload()

    def watch_extensions(self) -> None:
        """Reload whenever a file of a local extension changes, as soon as no prompt is being answered."""
        self.parts.reloading.watch()

    @property
    def bus(self) -> Bus:
        """Where plugins tell each other of things."""
        return self.parts.bus

    def get_flag(self, name: str) -> bool | str | None:
        """Return what the command line said of a plugin's option, else its default; None for an unknown one."""
        given = self.flags.get(name)
        if given is not None:
            return given
        found = self.registered.find("register_flags", name)
        if found is None:
            return None
        default: bool | str | None = found.thing.default
        return bool(default) if found.thing.type == "boolean" else default

    async def run_program(
        self,
        command: str,
        args: Sequence[str] = (),
        *,
        cwd: str | Path | None = None,
        signal: AbortSignal | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - as PiAPI.exec
        env: Mapping[str, str] | None = None,
    ) -> ExecResult:
        """Run a program in the session's working directory, see ``PiAPI.exec``."""
        from pi_core.base.process.program import run_program

        return await run_program(command, args, cwd=self.cwd / (cwd or ""), signal=signal, timeout=timeout, env=env)

    # What is the session's own

    async def start(self) -> None:
        """Start the session."""
        raise NotImplementedError

    async def wait_for_idle(self) -> None:
        """Return when no prompt is being answered."""
        raise NotImplementedError

    def subscribe(self, listener: Listener, *types: str) -> Callable[[], None]:
        """Tell a listener of events."""
        raise NotImplementedError

    # Its name

    async def set_session_name(self, name: str | None) -> None:
        """Name the session; None or an empty text takes the name away."""
        self.session_manager.append_session_info(name or "")
        await self.tell(pi_hookspecs.SessionInfoChangedEvent(name=name or None))

    async def tell(self, event: Any) -> None:
        """Tell the session's subscribers of an event."""
        raise NotImplementedError
