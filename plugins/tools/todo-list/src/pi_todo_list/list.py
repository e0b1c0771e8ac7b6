"""The list of one session: changed by the tool and the command, stored in the session, displayed above the editor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pi_hookspecs import Activity, ActivityItem, CustomEntry, UserError

if TYPE_CHECKING:
    from pi_hookspecs import PiAPI, PiContext, SessionEntry

__all__ = ["TodoList"]

ENTRY = "todo"
"""Type of the custom entries: their data is the whole list, ``{"text", "done"}`` each."""
LONGEST_LIST = 200
LONGEST_TEXT = 500
"""Characters of a to-do."""
SHOWN = 8
"""Rows of the display; the first of them that are not done."""
_USAGE = "Use /todo, /todo add TEXT, /todo done N, /todo remove N, or /todo clear."

Action = Literal["list", "add", "toggle", "remove", "clear"]


class TodoList:
    """The list.

    Args:
        pi: Where the tool and the command are added, and entries are stored.
    """

    def __init__(self, pi: PiAPI) -> None:
        self._pi = pi
        self._todos: list[dict[str, Any]] = []
        self._is_displayed = False

    def listen(self) -> None:
        """Follow the session."""
        for name in ("session_start", "session_tree"):
            self._pi.on(name, self._rebuild)
        for name in ("turn_end", "session_shutdown"):
            self._pi.on(name, getattr(self, name))

        @self._pi.register_tool(label="To-do list", execution_mode="sequential")
        async def todo(ctx: PiContext, action: Action, text: str = "", number: int = 0) -> str:
            """Keep the list of what is to be done in this session; the user sees it. Use it for work of several steps.

            Args:
                ctx: The call's context.
                action: What to do with the list.
                text: For add: what is to be done, one to-do in each line.
                number: For toggle and remove: which one. Toggle marks it done, or not done after all.
            """
            return self._change(ctx, action, text, number)

        self._pi.register_command(
            "todo",
            self._command,
            complete=_complete,
            description="Show the to-do list; add, done, remove, clear",
            touches=(),
        )

    def turn_end(self, ctx: PiContext) -> None:
        """Display the list again: a child session, whose list was displayed in its place, may have ended."""
        self._display(ctx)

    def session_shutdown(self, ctx: PiContext) -> None:
        """Remove the display."""
        self._todos = []
        self._display(ctx)

    def _rebuild(self, ctx: PiContext) -> None:
        """Read the list of the branch, of the last entry that holds one."""
        lists = (_list_in(each) for each in reversed(ctx.session.branch()))
        self._todos = [dict(each) for each in next((each for each in lists if each is not None), ())]
        self._display(ctx)

    def _command(self, args: str, ctx: PiContext) -> None:
        verb, _, rest = args.strip().partition(" ")
        if verb == "add":
            self._change(ctx, "add", rest)
        elif verb in ("done", "remove"):
            if not rest.strip().isdecimal():
                raise UserError(f"{rest.strip()!r} is not the number of a to-do. {_USAGE}")
            self._change(ctx, "toggle" if verb == "done" else "remove", number=int(rest))
        elif verb == "clear" and not rest:
            self._change(ctx, "clear")
        elif verb:
            raise UserError(f"Unknown arguments of /todo: {args.strip()!r}. {_USAGE}")
        ctx.ui.notify(self._listing())

    def _change(self, ctx: PiContext, action: Action, text: str = "", number: int = 0) -> str:
        """Do what is asked, store the list, and return it as text.

        Raises:
            UserError: The text or the number makes no sense; the list is as it was.
        """
        if action == "list":
            return self._listing()
        if action == "add":
            self._todos = [*self._todos, *self._added(text)]
        elif action == "clear":
            self._todos = []
        else:
            place = self._place(number)
            changed = {**self._todos[place], "done": not self._todos[place]["done"]}
            self._todos[place : place + 1] = [changed] if action == "toggle" else []
        self._pi.append_entry(ENTRY, [dict(each) for each in self._todos])
        self._display(ctx)
        return self._listing()

    def _added(self, text: str) -> list[dict[str, Any]]:
        lines = [" ".join(line.split()) for line in text.splitlines()]
        added: list[dict[str, Any]] = [{"text": line, "done": False} for line in lines if line]
        if not added:
            raise UserError("The text is empty: describe what is to be done.")
        if any(len(each["text"]) > LONGEST_TEXT for each in added):
            raise UserError(f"A to-do has at most {LONGEST_TEXT} characters. Use fewer words.")
        if len(self._todos) + len(added) > LONGEST_LIST:
            raise UserError(f"The list would have more than {LONGEST_LIST} to-dos. Remove what is done.")
        return added

    def _place(self, number: int) -> int:
        if not 1 <= number <= len(self._todos):
            raise UserError(f"There is no to-do {number}; there are {len(self._todos)}.")
        return number - 1

    def _listing(self) -> str:
        return "\n".join(_lines(list(enumerate(self._todos, 1)))) or "Nothing to do."

    def _display(self, ctx: PiContext) -> None:
        """Display what is not done, above the editor; nothing once all is done."""
        left = [each for each in enumerate(self._todos, 1) if not each[1]["done"]]
        if not left:
            if self._is_displayed:
                ctx.ui.set_activity(ENTRY, None)
            self._is_displayed = False
            return
        self._is_displayed = True
        head = f"To do: {len(left)} of {len(self._todos)} left"
        more = [f"... and {len(left) - SHOWN} more, see /todo"] if len(left) > SHOWN else []
        rows = [*_lines(left[:SHOWN]), *more]
        ctx.ui.set_activity(ENTRY, Activity(head, items=map(ActivityItem, rows), listed=True))


def _lines(numbered: list[tuple[int, dict[str, Any]]]) -> list[str]:
    return [f"[{'x' if each['done'] else ' '}] {number} {each['text']}" for number, each in numbered]


def _list_in(entry: SessionEntry) -> tuple[dict[str, Any], ...] | None:
    """Return the list that an entry holds; None for entries of others, and damaged ones."""
    if not isinstance(entry, CustomEntry) or entry.custom_type != ENTRY or not isinstance(entry.data, list):
        return None
    todos = [each for each in entry.data if isinstance(each, dict) and {"text", "done"} <= each.keys()]
    return tuple(todos) if len(todos) == len(entry.data) else None


def _complete(text: str) -> list[str]:
    return [each for each in ("add", "done", "remove", "clear") if each.startswith(text)]
