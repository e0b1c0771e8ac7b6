"""The board: what is on it, who has won, and the component that the user plays with."""

from __future__ import annotations

from pi_hookspecs import Line, Run, ScreenHandle

__all__ = ["EMPTY", "Board", "drawn", "winner"]

EMPTY = " " * 9
LINES = ("012", "345", "678", "036", "147", "258", "048", "246")
STEPS = {"left": -1, "right": 1, "up": -3, "down": 3}


def winner(cells: str) -> str:
    """Return how the game has ended; empty while it goes on."""
    for line in LINES:
        players = {cells[int(index)] for index in line}
        if len(players) == 1 and players != {" "}:
            return f"{players.pop()} has won"
    return "" if " " in cells else "a draw"


def drawn(cells: str) -> list[str]:
    """Return the board as text, with the numbers of free cells."""
    shown = [each if each != " " else str(number) for number, each in enumerate(cells, 1)]
    return [" │ ".join(shown[row : row + 3]) for row in (0, 3, 6)]


class Board:
    """Arrows move, Enter takes a cell, a number takes it at once, Escape leaves."""

    def __init__(self, screen: ScreenHandle, cells: str) -> None:
        self.screen, self.cells = screen, cells
        self.at = next((index for index in (4, *range(9)) if cells[index] == " "), 0)

    def render(self, width: int) -> list[Line]:
        rows = [Line.of(Run("You play X", "accent", bold=True), Run("  arrows, enter", "muted"))]
        for row in (0, 3, 6):
            runs = []
            for index in range(row, row + 3):
                player = self.cells[index]
                role = {"X": "success", "O": "error"}.get(player, "text")
                runs += [Run(f" {player} ", role, bold=True, reverse=index == self.at), Run("│", "muted")]
            rows.append(Line.of(*runs[:-1]))
        return rows

    def handle_key(self, key: str) -> bool:
        if key in STEPS:
            self.at = (self.at + STEPS[key]) % 9
            self.screen.refresh()
        elif key == "enter":
            self.take(self.at)
        elif key in "123456789":
            self.take(int(key) - 1)
        else:
            return False
        return True

    def take(self, index: int) -> None:
        if self.cells[index] == " ":
            self.screen.done(index + 1)
