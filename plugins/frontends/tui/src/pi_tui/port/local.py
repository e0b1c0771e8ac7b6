"""The implementation of ``Port`` for a session in this process, an ``AgentSession``."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

from pi_hookspecs import AgentBusy, NoModel, PiError
from pi_tui.port.protocol import Known

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pi_core.conversation import AgentSession
    from pi_core.models.sign_in import SignInUI
    from pi_hookspecs import Completion, FormField, ImageContent, SettingsView, Shortcut
    from pi_tui.lines.foreign import Drawings
    from pi_tui.port.about import About
    from pi_tui.port.lists import Lists

__all__ = ["LocalPort"]

_MOST_TEXT = 1_000_000
"""Maximum size of a file whose text is read while the screen is drawn."""


class LocalPort:
    """Implements ``Port``.

    Args:
        session: The session; the caller starts and ends it.
    """

    def __init__(self, session: AgentSession) -> None:
        self.session = session

    @property
    def settings(self) -> SettingsView:
        """The settings of the user."""
        return self.session.settings

    @property
    def drawings(self) -> Drawings | None:
        """The methods that let plugins draw parts of the conversation."""
        return self.session.renderings

    @property
    def lists(self) -> Lists:
        """The interface for lists."""
        from pi_tui.port.local_lists import LocalLists

        return LocalLists(self.session)

    def clean(self, text: str) -> str | None:
        """Return a text without secrets, so that it may be written to a file; None if a plugin fails to remove them."""
        try:
            return self.session.ctx.secrets.clean(text)
        except PiError:
            return None

    @property
    def about(self) -> About:
        """The interface for commands that concern pi itself."""
        from pi_tui.port.local_about import LocalAbout

        return LocalAbout(self.session)

    @property
    def cwd(self) -> str:
        """The working directory."""
        return os.fspath(self.session.cwd)

    def text_of(self, path: str) -> str | None:
        """Return the text of a file; None if it is large, or no text."""
        from pi_core.base.paths import expand_home

        try:
            file = self.cwd / expand_home(path)
            if file.is_file() and file.stat().st_size <= _MOST_TEXT:  # a pipe would block the screen
                return file.read_bytes().decode()
        except (OSError, ValueError, RuntimeError):  # a path from the model may be anything
            pass
        return None

    # State

    def subscribe(self, listener: Callable[[Any], object]) -> Callable[[], None]:
        """Call a listener with every event."""

        def listen(event: Any) -> None:
            listener(event)

        return self.session.subscribe(listen)

    def entries(self) -> Iterable[Any]:
        """Return the entries of the current branch."""
        return self.session.session_manager.get_branch()

    def facts(self) -> dict[str, Any]:
        """Return the fields of the footer that no event contains."""
        from pi_terminal_kit.branches import branch_of
        from pi_terminal_kit.figures import dispatch_facts

        session = self.session
        model = session.model
        answer = session.session_manager.last_answer() if model is not None and model.is_virtual else None
        return {
            "cwd": self.cwd,
            "branch": branch_of(session.cwd),
            "name": session.session_name,
            "model": None if model is None else model.id,
            "provider": None if model is None else model.provider,
            "window": 0 if model is None else model.context_window,
            "level": session.thinking_level if model is not None and model.reasoning else None,
            **dispatch_facts(answer),
            "auto_compact": session.auto_compaction_enabled,
            "providers": len({each.provider for each in session.models.available()}),
        }

    def usage(self) -> dict[str, Any]:
        """Return the footer's totals."""
        from pi_terminal_kit.figures import usage_facts

        return usage_facts(self.session.session_manager.stats())

    def problems(self) -> Iterator[str]:
        """Return messages about plugins and settings for the user."""
        session = self.session
        yield from session.problems()
        if session.model is not None and session.settings.get_bool("warnings.anthropicExtraUsage", default=True):
            yield from filter(None, [session.models.login_note(session.model.provider)])

    def why_no_model(self) -> str | None:
        """Return sentences on why no model is selected and what to do; None if there is a model."""
        if self.session.model is not None:
            return None
        from pi_tui.port.no_model import why_no_model

        return why_no_model(self.session.models)

    # Prompts

    @property
    def is_streaming(self) -> bool:
        """Whether a prompt is being answered."""
        return self.session.is_streaming

    @property
    def is_bash_running(self) -> bool:
        """Whether a command of the user is running."""
        return self.session.is_bash_running

    @property
    def is_retrying(self) -> bool:
        """Whether the session waits before a retry."""
        return self.session.is_retrying

    @property
    def is_compacting(self) -> bool:
        """Whether a compaction is running."""
        return self.session.is_compacting

    async def prompt(
        self,
        text: str,
        images: Sequence[ImageContent] = (),
        *,
        follow_up: bool = False,
        accepted: Callable[[], object] = bool,
    ) -> None:
        """Send a prompt, or queue it."""
        session = self.session
        how: Literal["steer", "followUp"] = "followUp" if follow_up else "steer"
        try:
            await session.prompt(
                text,
                images=images,
                streaming_behavior=how if session.is_streaming else None,
                on_accepted=lambda _how: accepted(),
            )
        except AgentBusy:  # a plugin has started a prompt in the meantime
            await (session.follow_up if follow_up else session.steer)(text, tuple(images))
            accepted()

    def take_queued(self) -> list[str]:
        """Remove and return the user's queued messages; those of plugins stay queued."""
        return self.session.parts.queue.take_user_texts()

    def abort(self) -> None:
        """Stop the current answer."""
        self.session.request_abort("Interrupted by the user")

    def skip_waiting(self) -> bool:
        """Skip the hooks that have been waited for; return whether there were any."""
        return self.session.hooks.skip_waiting()

    def abort_bash(self) -> None:
        """Stop running commands of the user."""
        self.session.abort_bash()

    def abort_retry(self) -> None:
        """Cancel the repetition of a failed request."""
        self.session.abort_retry()

    def abort_compaction(self) -> None:
        """Stop a running compaction."""
        self.session.abort_compaction()

    async def bash(self, command: str, command_id: str, *, excluded: bool) -> Any:
        """Run a command of the user."""
        return await self.session.execute_bash(command, exclude_from_context=excluded, id=command_id)

    # Commands and completion

    async def commands(self) -> list[Known]:
        """Return the commands of plugins, templates and skills."""
        found = await self.session.get_commands()
        return [Known(each.name, each.description or "", each.source != "extension") for each in found]

    async def complete_arguments(self, name: str, typed: str) -> Sequence[Completion]:
        """Return completions for the arguments of a command."""
        return await self.session.completions.arguments(name, typed)

    async def complete_mention(self, typed: str) -> Sequence[Completion]:
        """Return the mentions that plugins offer after an ``@``."""
        return await self.session.completions.mentions(typed)

    def walk(self, folder: str) -> Iterator[str]:
        """Yield the files below a folder."""
        from pi_core.resources.walking import relative_files

        return relative_files(folder)

    def shortcuts(self) -> Sequence[Shortcut]:
        """Return the shortcuts of plugins."""
        return self.session.commands.shortcuts()

    def form_values(
        self, fields: Sequence[FormField], entered: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """Return the values of a form, and the problems with what was entered."""
        from pi_core.plugin_api.forms import entered_values

        return entered_values(fields, entered)

    def acting_plugin(self) -> str | None:
        """Return the plugin on whose behalf the current task runs."""
        from pi_core.hooks.acting import acting_plugin

        return acting_plugin()

    def report_drawing(self, plugin: str | None, message: str, stack: str) -> None:
        """Report that drawing code of a plugin has failed."""
        self.session.report_plugin_error(plugin or "(program)", "drawing", message, stack)

    async def press_key(self, key: str) -> bool:
        """Call the plugin that registered this key."""
        return await self.session.commands.press_key(key)

    # Changes

    def models(self) -> list[str]:
        """Return the available models."""
        return [model.reference for model in self.session.models.available(self.session.model)]

    async def set_model(self, name: str) -> str:
        """Use a model, by its name or a part of it."""
        session = self.session
        match = await session.models.resolve(name)
        await session.set_model(match.model)
        if match.thinking_level is not None:
            await session.set_thinking_level(match.thinking_level)
        return match.model.reference

    async def cycle_model(self, *, forward: bool) -> str | None:
        """Use the next model and return its name."""
        changed = await self.session.cycle_model("forward" if forward else "backward")
        return None if changed is None else changed.model.id

    def thinking_levels(self) -> list[str]:
        """Return the thinking levels of the model."""
        return [] if self.session.model is None else [*self.session.get_available_thinking_levels()]

    async def set_thinking_level(self, level: str) -> None:
        """Set the thinking level."""
        chosen = next(each for each in self.session.get_available_thinking_levels() if each == level)
        await self.session.set_thinking_level(chosen)

    async def cycle_thinking_level(self) -> str | None:
        """Use the next thinking level."""
        return await self.session.cycle_thinking_level()

    async def set_name(self, name: str) -> None:
        """Name the session."""
        await self.session.set_session_name(name)

    async def compact(self, instructions: str | None) -> None:
        """Replace the older part of the conversation with a summary."""
        await self.session.compact(instructions)

    async def sign_in(self, provider: str | None) -> str | None:
        """Sign in to a provider, or store its key; return the model that is used now, if there was none before."""
        from pi_core.models.sign_in import login

        session = self.session
        await login(session.models, provider, key=None, ui=self._ui)
        if session.model is not None:
            return None
        try:
            model = session.models.choose()
        except NoModel:
            return None
        await session.set_model(model)
        return model.reference

    async def sign_out(self, provider: str | None) -> None:
        """Delete the stored credentials of a provider."""
        from pi_core.models.sign_in import logout

        await logout(self.session.models, provider, ui=self._ui)

    def providers(self, *, stored: bool = False) -> list[str]:
        """Return the providers to which the user can sign in, or those with stored credentials."""
        models = self.session.models
        return [*models.auth.providers()] if stored else [*dict.fromkeys([*models.logins(), *models.get_providers()])]

    async def reload(self) -> None:
        """Reload extensions, skills, prompts and themes."""
        await self.session.reload()

    def last_answer(self) -> str | None:
        """Return the text of the last answer."""
        return self.session.get_last_assistant_text()

    def session_info(self) -> list[str]:
        """Return lines about the session's file, size and cost."""
        from pi_core.base.paths import below_home
        from pi_terminal_kit.figures import session_rows

        stats = self.session.get_session_stats()
        file = below_home(stats.session_file) if stats.session_file else None
        return session_rows(stats, file=file, cache=self.session.cache_warming)

    # Other conversations

    async def new_session(self) -> bool:
        """Start a new session."""
        return await self.session.new_session()

    async def switch_session(self, path: str) -> bool:
        """Continue a stored session."""
        return await self.session.switch_session(path)

    def user_messages(self) -> list[tuple[str, str]]:
        """Return the id and the text of each message of the user."""
        return self.session.get_user_messages_for_forking()

    async def fork(self, entry_id: str) -> str | None:
        """Continue in a new session that ends before a message of the user."""
        forked = await self.session.fork(entry_id)
        return None if forked.cancelled else forked.selected_text

    async def clone(self) -> bool:
        """Continue in a copy of the session."""
        return await self.session.clone()

    async def import_session(self, path: str) -> bool:
        """Copy a session file into the store, and continue with it."""
        return await self.session.import_from_jsonl(self.session.cwd / path)

    # The end

    def shut_down(self) -> None:
        """Request the end of the session."""
        self.session.shutdown_requested.set()

    async def until_shut_down(self) -> None:
        """Wait until the end of the session is requested."""
        await self.session.shutdown_requested.wait()

    def set_user_interface(self, ui: SignInUI) -> None:
        """Set the user interface that answers dialogs of plugins."""
        self._ui = ui
        self.session.ui, self.session.has_ui = ui, True

    def resume_hint(self) -> str | None:
        """Return the command that continues the session."""
        from pi_tui.port.resuming import resume_command

        with suppress(OSError):
            return resume_command(self.session, os.environ)
        return None
