"""The magics: ``%%pi`` and ``%pi`` ask; ``%pi_model``, ``%pi_session`` and ``%pi_variables`` show what is used."""

from __future__ import annotations

import atexit
import re
from typing import TYPE_CHECKING, Any, TypeVar

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, line_magic, magics_class

from pi_hookspecs import PiError
from pi_jupyter.notebook import Notebook, Reply

if TYPE_CHECKING:
    from collections.abc import Callable

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
        atexit.register(self.notebook.close)

    def close(self) -> None:
        """End the conversation."""
        atexit.unregister(self.notebook.close)
        self.notebook.close()

    @line_cell_magic
    def pi(self, line: str, cell: str | None = None) -> Reply:
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

        def ask() -> Reply:
            if "new" in options:
                self.notebook.session("new")
            if "model" in options:
                self.notebook.model(options["model"])
            return self.notebook.ask(prompt, output_type)

        return _tried(ask)

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
            f"{rest.split()[0]!r} is no option of %pi, or its value is missing: --as TYPE, --new, --model NAME"
        )
    return options, rest


def _tried(function: Callable[[], T]) -> T:
    """Call a function; a mistake of the user becomes a message without a traceback."""
    try:
        return function()
    except PiError as error:
        raise UsageError(str(error)) from error
    except KeyboardInterrupt:
        raise Stopped from None
