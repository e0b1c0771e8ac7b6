"""The tool ``notebook``: the model may look at the notebook's variables, each one only if the user agrees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import ToolContext, UserError, tool

if TYPE_CHECKING:
    from collections.abc import Iterator

    from IPython.core.interactiveshell import InteractiveShell

    from pi_hookspecs import Tool
    from pi_jupyter.cell_thread import CellThread

__all__ = ["Variables"]

_MOST_CHARACTERS = 20_000
"""Of a value that the model gets."""

_HIDDEN = frozenset(("In", "Out", "exit", "quit", "get_ipython", "open"))


class Variables:
    """The variables of a notebook, and which of them the model may see.

    Args:
        shell: The notebook's shell.
        thread: Reads them in the thread of the cell, where no cell changes them meanwhile.
    """

    def __init__(self, shell: InteractiveShell, thread: CellThread) -> None:
        self._shell = shell
        self._thread = thread
        self.allowed: set[str] = set()

    def names(self) -> list[str]:
        """Return the names of the user's own variables, sorted."""
        space, hidden = self._shell.user_ns, self._shell.user_ns_hidden
        own = (name for name in space if not name.startswith("_") and name not in _HIDDEN)
        return sorted(name for name in own if hidden.get(name, self) is not space[name])

    def allow(self, names: list[str]) -> None:
        """Let the model see these variables without asking.

        Raises:
            UserError: There is no such variable.
        """
        self._check(names)
        self.allowed.update(names)

    def tool(self) -> Tool:
        """Return the tool."""

        @tool(name="notebook", prompt_snippet="List the variables of the user's notebook, or look at some")
        async def notebook(ctx: ToolContext, names: list[str] | None = None) -> str:
            """Look at variables of the Python notebook in which the user writes to you. The user has to agree.

            Args:
                ctx: Of the call.
                names: Names of variables whose values you need. Without names, the variables are listed with types.
            """
            if not names:
                return await self._thread.in_cell(lambda: "\n".join(self._list())) or "There are no variables."
            await self._thread.in_cell(lambda: self._check(names))
            await self._ask(ctx, [name for name in dict.fromkeys(names) if name not in self.allowed])
            return await self._thread.in_cell(lambda: "\n\n".join(self._value(name) for name in names))

        return notebook

    async def _ask(self, ctx: ToolContext, names: list[str]) -> None:
        """Ask the user about variables that the model may not see yet.

        Raises:
            UserError: The user does not agree.
        """
        if not names:
            return
        which = ", ".join(names)
        options = ("Yes", "Yes, and do not ask again for these", "No")
        answer = await ctx.ui.select(f"Send the model the values of {which}?", options, signal=ctx.signal)
        if answer == options[1]:
            self.allowed.update(names)
        elif answer != options[0]:
            raise UserError(f"The user did not agree to show {which}. Go on without, or ask for what you need")

    def _check(self, names: list[str]) -> None:
        known = self.names()
        for name in names:
            if name not in known:
                raise UserError(f"The notebook has no variable {name!r}. It has: {', '.join(known) or 'none'}")

    def _list(self) -> Iterator[str]:
        for name in self.names():
            value = self._shell.user_ns[name]
            yield f"{name}: {type(value).__qualname__}{_size(value)}"

    def _value(self, name: str) -> str:
        """Return a value as a cell prints it."""
        formatter = self._shell.display_formatter
        value = self._shell.user_ns[name]
        data = {} if formatter is None else formatter.format(value, include={"text/plain"})[0]
        text = str(data.get("text/plain", repr(value)))
        cut = len(text) - _MOST_CHARACTERS
        return f"{name} =\n{text[:_MOST_CHARACTERS]}" + (f"\n[{cut} more characters]" if cut > 0 else "")


def _size(value: Any) -> str:
    """Return the shape of an array or a table, else the length of a collection."""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        return f", shape {shape}"
    return f", length {len(value)}" if isinstance(value, str | bytes | list | tuple | dict | set | frozenset) else ""
