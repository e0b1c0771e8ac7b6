"""The magics: ``%%pi`` and ``%pi`` ask; the others show and choose what is used, such as ``%pi_model``."""

from __future__ import annotations

import atexit
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, line_magic, magics_class

from pi_core import error_text
from pi_hookspecs import PiError, RequestFailed
from pi_jupyter.notebook import Notebook, Reply
from pi_jupyter.widgets import can_answer, with_await

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["PiMagics"]

T = TypeVar("T")


class Stopped(KeyboardInterrupt):
    """The user stopped the answer; the cells after this one are not run, and no traceback is displayed."""

    def _render_traceback_(self) -> list[str]:
        return ["Stopped. The conversation can continue."]


_OPTION = re.compile(r"\s*--(?:(?P<flag>new)|(?P<name>as|model)(?:\s+|=)(?P<value>\"[^\"]*\"|\S+))(?=\s|$)")


@magics_class
class PiMagics(Magics):
    """The magics of one shell.

    Args:
        shell: The shell.
        options: Options of ``create_agent_session``.
    """

    def __init__(self, shell: InteractiveShell, **options: Any) -> None:
        super().__init__(shell)
        self._evaluate: Callable[[str], Any] = shell.ev
        self.notebook = Notebook(shell, **options)
        self._shell = shell
        self._is_awaited = False
        self._running = 0  # cells; one within another is of a magic, such as %%time
        shell.events.register("pre_execute", self._begin_cell)
        shell.events.register("post_execute", self._end_cell)
        if can_answer(shell):
            self._use_widgets(use=True)
        atexit.register(self.notebook.close)

    def close(self) -> None:
        """End the conversation."""
        self._use_widgets(use=False)
        self._shell.events.unregister("pre_execute", self._begin_cell)
        self._shell.events.unregister("post_execute", self._end_cell)
        atexit.unregister(self.notebook.close)
        self.notebook.close()

    def _use_widgets(self, *, use: bool) -> None:
        transformers = self._shell.input_transformers_post
        if self._transform in transformers:
            transformers.remove(self._transform)
        if use:
            transformers.append(self._transform)

    def _begin_cell(self) -> None:
        self._running += 1

    def _end_cell(self) -> None:
        self._running = max(0, self._running - 1)  # the cell that loaded the extension, and empty ones, only end

    def _transform(self, lines: list[str]) -> list[str]:
        """Return the lines of a cell as it is executed.

        ``%autoawait`` may be off, or use another event loop; and what ``%%time`` or ``%%capture`` executes within a
        cell cannot be awaited.
        """
        if self._running or not self._shell.autoawait or str(self._shell.loop_runner) != "asyncio":
            return lines
        return with_await(lines)

    def awaited(self, call: Callable[[], Awaitable[Reply]]) -> Awaitable[Reply]:
        """Return what the cell awaits; ``call`` calls the magic ``pi``."""
        self._is_awaited = True
        try:
            return call()
        finally:
            self._is_awaited = False

    @line_cell_magic
    def pi(self, line: str, cell: str | None = None) -> Reply | Awaitable[Reply]:
        """Ask pi; the conversation continues from cell to cell. The answer is the value of the cell: ``_.value``.

        Usage: ``%%pi [--as TYPE] [--new] [--model NAME]`` with the prompt below, or ``%pi [...] PROMPT`` in one line.

          --as TYPE     The type of the answer, an expression: int, "dict[str, int]", Counts
          --new         Begin a new conversation
          --model NAME  Select this model, for this and the following prompts
        """
        options, first = _options(line)
        prompt = "\n".join(filter(None, (first, (cell or "").strip())))
        if not prompt:
            raise UsageError("The prompt is empty: write it below %%pi, or after %pi")
        output_type = self._evaluate(options["as"]) if "as" in options else None

        def prepare() -> None:
            if "new" in options:
                self.notebook.session("new")
            if "model" in options:
                self.notebook.model(options["model"])

        _tried(prepare)
        if self._is_awaited:
            return self._ask_awaited(prompt, output_type)
        return _tried(lambda: self.notebook.ask(prompt, output_type))

    async def _ask_awaited(self, prompt: str, output_type: Any) -> Reply:
        with _mistakes():
            return await self.notebook.ask_awaited(prompt, output_type)

    @line_magic
    def pi_model(self, line: str) -> None:
        """Print the model; ``%pi_model NAME`` selects another one first."""
        print(_tried(lambda: self.notebook.model(line.strip())))  # noqa: T201 - the output of the cell

    @line_magic
    def pi_session(self, line: str) -> None:
        """Print where the conversation is stored; ``%pi_session new`` begins another, ``%pi_session ID`` opens one."""
        print(_tried(lambda: self.notebook.session(line.strip())))  # noqa: T201 - as above

    @line_magic
    def pi_variables(self, line: str) -> None:
        """Print which variables pi may see without asking; ``%pi_variables NAME ...`` adds some."""
        variables = self.notebook.variables
        _tried(lambda: variables.allow(line.split()))
        print(" ".join(sorted(variables.allowed)) or "None: pi asks for each variable.")  # noqa: T201 - as above

    @line_magic
    def pi_dialogs(self, line: str) -> None:
        """Print how pi asks questions; ``%pi_dialogs input`` and ``%pi_dialogs widgets`` choose."""
        choice = line.strip()
        if choice not in ("", "input", "widgets"):
            raise UsageError(f"pi asks with input or with widgets, not {choice!r}")
        if choice == "widgets" and not can_answer(self._shell):
            raise UsageError("Widgets cannot be used here: they need ipywidgets and ipykernel 7.4 or newer")
        if choice:
            self._use_widgets(use=choice == "widgets")
        print("widgets" if self._transform in self._shell.input_transformers_post else "input")  # noqa: T201 - as above


def _options(line: str) -> tuple[dict[str, str], str]:
    """Return the options at the beginning of a line, and the rest, in which quotes and dashes are ordinary text."""
    options: dict[str, str] = {}
    place = 0
    while match := _OPTION.match(line, place):
        options[match["flag"] or match["name"]] = (match["value"] or "").strip('"')
        place = match.end()
    rest = line[place:].strip()
    if rest.startswith("--"):
        raise UsageError(
            f"{rest.split()[0]!r} is not an option of %pi, or its value is missing. Use --as TYPE, --new or --model "
            f"NAME"
        )
    return options, rest


def _tried(function: Callable[[], T]) -> T:
    """Call a function; a mistake of the user becomes a message without a traceback."""
    with _mistakes():
        return function()


@contextmanager
def _mistakes() -> Iterator[None]:
    try:
        yield
    except RequestFailed as error:
        raise UsageError(error_text(str(error)).sentences) from error
    except PiError as error:
        raise UsageError(str(error)) from error
    except KeyboardInterrupt:
        raise Stopped from None
