"""The game: a component with a clock of its own."""

from __future__ import annotations

import asyncio
import random
from itertools import product

from pi_hookspecs import Line, Run, ScreenHandle

__all__ = ["SnakeGame"]

WIDTH, HEIGHT = 24, 12
SECONDS = 0.12
KEYS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
KEYS |= {"k": KEYS["up"], "j": KEYS["down"], "h": KEYS["left"], "l": KEYS["right"]}


class SnakeGame:
    """Moves with each tick; done with the score when Escape or Enter is pressed."""

    def __init__(self, screen: ScreenHandle, best: int) -> None:
        self.screen, self.best = screen, best
        self.snake = [(WIDTH // 2, HEIGHT // 2), (WIDTH // 2 - 1, HEIGHT // 2)]
        self.way = self.next_way = KEYS["right"]
        self.score, self.over = 0, False
        self.food = self.place_food()
        self.timer = asyncio.get_running_loop().call_later(SECONDS, self.tick)

    def place_food(self) -> tuple[int, int]:
        free = [cell for cell in product(range(WIDTH), range(HEIGHT)) if cell not in self.snake]
        return random.choice(free)  # noqa: S311 - a game

    def tick(self) -> None:
        """Move by one cell."""
        self.way = self.next_way
        head = (self.snake[0][0] + self.way[0], self.snake[0][1] + self.way[1])
        eats = head == self.food
        inside = 0 <= head[0] < WIDTH and 0 <= head[1] < HEIGHT
        self.over = not inside or head in (self.snake if eats else self.snake[:-1])
        if not self.over:
            self.snake = [head, *(self.snake if eats else self.snake[:-1])]
            if eats:
                self.score += 10
                self.food = self.place_food()
            self.timer = asyncio.get_running_loop().call_later(SECONDS, self.tick)
        self.screen.refresh()

    def render(self, width: int) -> list[Line]:
        rows = [Line.of(Run(" Snake ", "accent", bold=True), f" {self.score} · best {max(self.best, self.score)}")]
        rows.append(Line.of(Run(f"┌{'──' * WIDTH}┐", "border")))
        for y in range(HEIGHT):
            cells = [self.cell((x, y)) for x in range(WIDTH)]
            rows.append(Line.of(Run("│", "border"), *cells, Run("│", "border")))
        rows.append(Line.of(Run(f"└{'──' * WIDTH}┘", "border")))
        hint = "game over · enter" if self.over else "arrows or h j k l · escape ends"
        return [*rows, Line.of(Run(hint, "error" if self.over else "muted"))]

    def cell(self, place: tuple[int, int]) -> Run:
        if place in self.snake:
            return Run("██", "success" if place == self.snake[0] else "accent")
        return Run("● ", "error") if place == self.food else Run("  ")

    def handle_key(self, key: str) -> bool:
        if key in ("escape", "enter") and (self.over or key == "escape"):
            self.screen.done(self.score)
        elif key in KEYS:
            way = KEYS[key]
            if (way[0] + self.way[0], way[1] + self.way[1]) != (0, 0):  # not back into itself
                self.next_way = way
        return True

    def dispose(self) -> None:
        self.timer.cancel()
