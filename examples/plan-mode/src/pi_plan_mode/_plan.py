"""A plan as text: its steps are numbered lines after ``Plan:``, and ``[DONE:2]`` marks the second as done."""

import re
from typing import Any

STEP = re.compile(r"^\s*\d+[.)]\s+(.+?)\s*$", re.MULTILINE)
DONE = re.compile(r"\[DONE:(\d+)\]")


class Plan:
    """The state of one session: whether it plans, the plan that it made, and the tools that it had before."""

    def __init__(self) -> None:
        self.restore({})

    def restore(self, saved: dict[str, Any]) -> None:
        """Restore the state that ``saved()`` returned."""
        self.planning: bool = saved.get("planning", False)
        self.steps: list[str] = saved.get("steps", [])
        self.done: set[int] = set(saved.get("done", ()))
        self.tools_before: list[str] = saved.get("tools_before", [])

    def saved(self) -> dict[str, Any]:
        """Return the state as plain data."""
        return {
            "planning": self.planning,
            "steps": self.steps,
            "done": sorted(self.done),
            "tools_before": self.tools_before,
        }

    def take_steps(self, answer: str) -> bool:
        """Take the steps out of an answer; False when it has none."""
        _, marker, plan = answer.partition("Plan:")
        steps = STEP.findall(plan) if marker else []
        if steps:
            self.steps, self.done = steps, set()
        return bool(steps)

    def take_marks(self, answer: str) -> bool:
        """Take note of the steps that an answer calls done; False when it names none that was not."""
        marks = {int(number) for number in DONE.findall(answer)} & set(range(1, len(self.steps) + 1))
        news = marks - self.done
        self.done |= news
        return bool(news)

    def lines(self) -> list[str]:
        """Return the steps for people."""
        return [f"[{'x' if n in self.done else ' '}] {n}. {step}" for n, step in enumerate(self.steps, 1)]
