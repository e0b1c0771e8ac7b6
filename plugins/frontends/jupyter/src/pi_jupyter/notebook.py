"""The conversation of a notebook: one session, which continues from cell to cell."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_core import create_agent_session, find_session
from pi_jupyter.answer_view import AnswerView
from pi_jupyter.cell_thread import CellThread
from pi_jupyter.dialogs import NotebookUI
from pi_jupyter.variables import Variables

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from pi_core import AgentSession, Answer

__all__ = ["Notebook", "Reply"]


class Reply:
    """An answer as a cell's result: already displayed while it streamed, so it displays only a structured value.

    Attributes:
        text: The text of the answer.
        value: The value of the requested type; the text if none was requested.
        usage: Tokens and US dollars of all requests of the prompt.
        messages: The messages that the prompt added to the conversation.
    """

    def __init__(self, answer: Answer[Any]) -> None:
        self.text = str(answer)
        self.value = answer.output
        self.usage = answer.usage
        self.messages = answer.messages

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Reply({self.text!r})" if self.value == self.text else f"Reply({self.text!r}, value={self.value!r})"

    def _ipython_display_(self) -> None:
        if self.value != self.text:
            from IPython.display import display

            display(self.value)


class Notebook:
    """A conversation with pi in a shell of IPython.

    Args:
        shell: The shell.
        options: Options of ``create_agent_session``.
    """

    def __init__(self, shell: InteractiveShell, **options: Any) -> None:
        self._shell = shell
        self._options = options
        self._session: AgentSession | None = None
        self._asking: asyncio.Task[Any] | None = None
        self._thread = CellThread()
        self._ui = NotebookUI(self._thread, shell)
        self.variables = Variables(shell, self._thread)

    def ask(self, prompt: str, output_type: Any = None) -> Reply:
        """Send a prompt, draw the answer in the running cell, and return it.

        Raises:
            PiError: There is no answer; see ``AgentSession.ask``.
            KeyboardInterrupt: The user interrupted the cell; the prompt is aborted, and the conversation can continue.
        """
        session = self._opened()
        return Reply(self._thread.run(self._answer(session, prompt, output_type), interrupt=self._stop))

    async def ask_awaited(self, prompt: str, output_type: Any = None) -> Reply:
        """As ``ask``, for a cell that is awaited."""
        session = self._opened()
        work = self._answer(session, prompt, output_type)
        return Reply(await self._thread.run_awaited(work, interrupt=self._stop))

    async def _answer(self, session: AgentSession, prompt: str, output_type: Any) -> Answer[Any]:
        from IPython.display import display

        self._asking = asyncio.current_task()
        view = AnswerView(self._thread, display)
        unsubscribe = session.subscribe(view.on_event)
        self._ui.before = view.draw
        try:
            answer: Answer[Any] = await session.ask(prompt, output_type=output_type)
            return answer
        finally:
            unsubscribe()
            view.draw()

    async def _stop(self) -> None:
        """Abort the prompt; cancel one that is still being prepared, which a session does not abort."""
        if self._session is not None and self._session.is_streaming:
            await self._session.abort()
        elif self._asking is not None:
            self._asking.cancel()

    def model(self, name: str = "") -> str:
        """Return the current model, after selecting the named one.

        Raises:
            PiError: There is no such model, or it cannot be used.
        """
        session = self._opened()

        async def select() -> None:
            model = session.models.find(name)
            session.models.check(model)
            await session.set_model(model)

        if name:
            self._thread.run(select())
        return "no model" if session.model is None else f"{session.model.provider}/{session.model.id}"

    def session(self, name: str = "") -> str:
        """Return where the conversation is stored, after opening another one.

        Args:
            name: ``new``, or the path or the beginning of the id of a stored session.

        Raises:
            PiError: There is no such session.
        """
        session = self._opened()
        if name == "new":
            self._thread.run(session.new_session())
        elif name:
            path = name if Path(name).exists() else find_session(name, session.cwd, host=session.host).path
            self._thread.run(session.switch_session(path))
        manager = session.session_manager
        return manager.reference if manager.is_persisted else f"in memory: {session.session_id}"

    def close(self) -> None:
        """End the conversation and the thread; a second call does nothing."""
        session, self._session = self._session, None
        if session is not None:
            self._thread.run(session.dispose())
        self._thread.close()

    def _opened(self) -> AgentSession:
        """Return the session, which the first use opens."""
        if self._session is None:
            self._session = self._thread.run(self._open())
        return self._session

    async def _open(self) -> AgentSession:
        tools = [self.variables.tool(), *self._options.get("custom_tools", ())]
        options = {**self._options, "custom_tools": tools}
        session = create_agent_session(ui=self._ui, mode="jupyter", model_required=False, **options)
        try:
            await session.start()
        except BaseException:  # it was interrupted, too: the next cell opens another one
            await session.dispose()
            raise
        for problem in (*session.models.warnings, *session.toolbox.warnings):
            self._ui.notify(f"Warning: {problem}", "warning")
        return session
