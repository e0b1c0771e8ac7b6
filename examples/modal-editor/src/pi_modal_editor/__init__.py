"""An editor with the modes of vi; `/modal` turns it on and off."""

from pi_hookspecs import Command, Line, PiContext, Run, ScreenHandle, hookimpl
from pi_modal_editor._keys import NORMAL


class ModalEditor:
    """Draws text and cursor, and has keys of its own in the normal mode.

    The front end sets ``text`` and ``cursor`` before it calls this, and reads them afterwards.
    """

    text, cursor = "", 0

    def __init__(self, screen: ScreenHandle) -> None:
        self.mode = "insert"

    def render(self, width: int) -> list[Line]:
        before, under, after = (
            self.text[: self.cursor],
            self.text[self.cursor : self.cursor + 1],
            self.text[self.cursor + 1 :],
        )
        if under in ("", "\n"):
            under, after = " ", under + after
        rows, runs = [], [Run("")]
        for run in (Run(before), Run(under, reverse=True), Run(after)):
            first, *others = run.text.split("\n")
            runs.append(run._replace(text=first))
            for row in others:
                rows.append(Line.of(*runs))
                runs = [run._replace(text=row)]
        label = Run(f" {self.mode.upper()} ", "accent" if self.mode == "normal" else "muted", reverse=True)
        return [*rows, Line.of(*runs), Line.of(label)]

    def handle_key(self, key: str) -> bool:
        if self.mode == "insert":
            if key == "escape":
                self.mode = "normal"
                return True
            return False
        if key in ("i", "a", "A", "I"):
            self.mode = "insert"
        move = NORMAL.get(key)
        if move is not None:
            self.text, self.cursor = move(self.text, self.cursor)
        return move is not None or len(key) == 1  # other letters do nothing; Enter, Escape and Ctrl keys are pi's


def switch(args: str, ctx: PiContext) -> None:
    is_on = ctx.ui.get_editor_component() is not None
    ctx.ui.set_editor_component(None if is_on else ModalEditor)


@hookimpl
def session_start(ctx: PiContext) -> None:
    ctx.ui.set_editor_component(ModalEditor)


@hookimpl
def register_commands() -> list[Command]:
    return [Command("modal", handler=switch, description="Switch the editor with modes on or off")]
