"""A request for approval: what would happen, why the user is asked, and answers with what each would mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import Line, Run
from pi_tui.dialogs.base import Dialog, framed, hint
from pi_tui.lines.line import cells, cut
from pi_tui.lines.wrap import wrap_text
from pi_tui.view.clean import clean, clean_line

if TYPE_CHECKING:
    from pi_hookspecs import Approval, ApprovalChoice
    from pi_tui.keys.bindings import Bindings
    from pi_tui.keys.events import Key

__all__ = ["Approve"]

_INDENT = "  "

_MARKS = 5
"""Cells before the label of an answer: the mark of the selection, and the key."""

_RULES = 2
_COUNT = 6
"""Cells for the number of the only row that is displayed."""

_LEAST_MEANING = 30
"""Cells that a meaning needs to begin next to its label."""


class Approve(Dialog[str]):
    """Asks for an approval; a letter answers at once, escape refuses. The result is an answer; None for a refusal.

    Args:
        approval: The question.
    """

    def __init__(self, approval: Approval) -> None:
        super().__init__()
        self._approval = approval
        self._selected = 0
        self._scrolled = 0

    def lines(self, width: int, height: int) -> list[Line]:
        """Return the question and the answers, and as much as fits of what it is about, of the reason and of the keys.

        On a small screen, the keys are left out first, then what the answers mean, the end of the reason, and rules.
        """
        title = wrap_text(clean_line(self._approval.title), width, Run("", "warning", bold=True))
        why = wrap_text(clean(self._approval.why), width, Run("", "muted")) if self._approval.why else []
        answers, keys = self._answers(width), hint(self._hints(), width)
        least = 1 if self._approval.what else 0
        room = height - len(title) - _RULES - least  # for all but the title and the first row of what it is about
        if len(why) + len(answers) + len(keys) > room:
            keys = []
            answers = answers if len(answers) <= room else self._answers(width, brief=True)
            why = why[: max(room - len(answers), 0)]
        below = [*why, *answers, *keys]
        rows = framed([*title, *self._what(width, max(room + least - len(below), least)), *below], width)
        rows = rows[:-1] if len(rows) > height else rows
        return rows[len(rows) - height :] if len(rows) > height else rows

    def _what(self, width: int, room: int) -> list[Line]:
        if not self._approval.what:
            return []
        inner = max(width - len(_INDENT), 1)
        rows = [Line((Run(_INDENT), *row.runs)) for row in wrap_text(clean(self._approval.what), inner)]
        if len(rows) <= room:
            return rows
        if room == 1:
            rows = wrap_text(clean(self._approval.what), max(inner - _COUNT, 1))
            self._scrolled = min(self._scrolled, len(rows) - 1)
            count = Run(f" {self._scrolled + 1}/{len(rows)}", "dim")
            return [cut(Line((Run(_INDENT), *rows[self._scrolled].runs, count)), width)]
        room = max(room - 1, 1)
        self._scrolled = min(self._scrolled, len(rows) - room)
        shown = rows[self._scrolled : self._scrolled + room]
        position = f"{_INDENT}({self._scrolled + room}/{len(rows)} rows, pageUp and pageDown scroll)"
        return [*shown, cut(Line.of(Run(position, "dim")), width)]

    def _answers(self, width: int, *, brief: bool = False) -> list[Line]:
        """Return the answers; the meaning of each is complete, on further rows if necessary, unless they are brief."""
        column = _MARKS + max(cells(_label(each)) for each in self._approval.choices) + 2
        beside = width - column >= _LEAST_MEANING
        rows: list[Line] = []
        for number, each in enumerate(self._approval.choices):
            is_selected = number == self._selected
            label = Run(_label(each), "accent" if is_selected else "text")
            head = (Run("→ " if is_selected else "  ", "accent"), Run(f"{each.key or ' '}  ", "dim"), label)
            start = column if beside else _MARKS
            means = wrap_text(clean_line(each.means), max(width - start, 1), Run("", "muted")) if each.means else []
            if brief:
                means = []
            if beside and means:
                gap = Run(" " * (column - _MARKS - cells(label.text)))
                rows.append(Line((*head, gap, *means.pop(0).runs)))
            else:
                rows.append(cut(Line(head), width))
            rows += [Line((Run(" " * start), *row.runs)) for row in means]
        return rows

    def _hints(self) -> list[tuple[str, str]]:
        keys = "/".join(each.key for each in self._approval.choices if each.key)
        return [("↑↓", "move"), ("enter", "select"), (keys, "answer"), ("escape", "refuse")]

    def key(self, key: Key, bindings: Bindings) -> None:
        """Move the selection, scroll, or answer."""
        actions = bindings.actions(key.name, "list")
        choices = self._approval.choices
        typed = next((each for each in choices if each.key and each.key == key.text.lower()), None)
        if typed is not None:
            self._choose(typed)
        elif "tui.select.cancel" in actions:
            self.finish(None)
        elif "tui.select.confirm" in actions:
            self._choose(choices[self._selected])
        elif "tui.select.up" in actions:
            self._selected = (self._selected - 1) % len(choices)
        elif "tui.select.down" in actions:
            self._selected = (self._selected + 1) % len(choices)
        elif "tui.select.pageUp" in actions:
            self._scrolled = max(self._scrolled - 5, 0)
        elif "tui.select.pageDown" in actions:
            self._scrolled += 5

    def _choose(self, choice: ApprovalChoice) -> None:
        self.finish(choice.answer if choice.allows or choice.lasting else None)


def _label(choice: ApprovalChoice) -> str:
    return clean_line(choice.label)
