"""Only the cells that have changed are written again, and they are all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from pi_hookspecs import Line, Run
from pi_testing import text as says
from pi_tui.first_frame import palette_of
from pi_tui.screen.differences import changed_cells
from pi_tui.screen.frames import Frames
from pi_tui.screen.strips import Painter
from pi_tui.view.changes import Changes
from pi_tui.view.local_events import NoticeShown
from pi_tui.view.reduce import reduce

if TYPE_CHECKING:
    from pi_testing import ScriptedProvider

WIDTH = 12
PAINTER = Painter(palette_of("dark", {"TERM": "xterm-256color", "COLORTERM": "truecolor"}))

runs = st.builds(Run, st.text("ab─漢é", max_size=5), st.sampled_from(["text", "accent"]), bold=st.booleans())
lines = st.lists(runs, max_size=4).map(lambda each: Line.of(*each))


def cells_of(line: Line) -> list[tuple[str, object]]:
    return [(char, segment.style) for segment in PAINTER.strip(line, WIDTH) for char in segment.text]


@given(st.lists(st.tuples(lines, lines), max_size=4))
def test_what_is_not_written_again_is_as_it_was(pairs) -> None:
    before, after = [old for old, _ in pairs], [new for _, new in pairs]

    changed = {(x, region.y) for region in changed_cells(before, after, WIDTH) for x in range(region.x, region.right)}

    for row, (old, new) in enumerate(pairs):
        was, now = cells_of(old), cells_of(new)
        same = {x for x in range(WIDTH) if len(was) == len(now) == WIDTH and was[x] == now[x]}
        assert (changed_row := {x for x, y in changed if y == row}) | same == {*range(WIDTH)} or old == new
        assert changed_row <= {*range(WIDTH)}


def test_a_spinner_is_one_cell() -> None:
    before, after = (Line.of(Run("── ", "dim"), Run(spin, "dim"), Run(" Working ")) for spin in "⠋⠙")

    (region,) = changed_cells([before], [after], 13)

    assert (region.x, region.width) == (3, 1)


async def test_what_is_drawn_in_parts_is_what_is_drawn_as_a_whole(desk, script: ScriptedProvider) -> None:
    script.turn(says("The *tide* is high.\n\n- at 6\n- at 18\n\n```python\nx = 1\n```\n", 7))

    async with desk() as user:
        await user.type("How is the tide?", "enter")
        await user.when(lambda: not user.app.talk.busy)
        await user.press("a", "b", "left", "pageup")
        drawn = user.rows
        user.app.screen.refresh(layout=True)
        await user.pilot.pause()

        assert user.rows == drawn


async def test_a_row_that_was_computed_for_another_one_is_still_written(desk, monkeypatch) -> None:
    async with desk() as user:
        transcript, written = user.app.transcript, []
        monkeypatch.setattr(transcript, "refresh", lambda *regions: written.extend(regions))
        reduce(user.app.state, NoticeShown(text="The tide turns."))

        transcript.render_lines(transcript.size.region)  # as for the first and the last row
        transcript.update_rows()

        assert len(written) == 2, "the notice and the blank row before it"


def test_a_line_is_drawn_once_in_the_colours_of_a_theme() -> None:
    environ = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
    painter, line = Painter(palette_of("dark", environ)), Line.of(Run(" ", "padding"), Run("tide"), Run("!", "accent"))

    first = painter.strip(line, WIDTH)

    assert painter.strip(line, WIDTH) is first
    assert painter.strip(line, WIDTH + 1) is not first
    assert [segment.text for segment in first] == [" tide", "!", " " * 6]  # equal styles are one segment
    painter.palette = palette_of("light", environ)
    assert painter.strip(line, WIDTH) is not first
    for number in range(2000):
        painter.strip(Line.of(Run(str(number))), WIDTH)
    assert len(painter._strips) <= 501


async def test_frames_collect_what_changes_until_they_are_drawn() -> None:
    drawn: list[Changes] = []
    frames = Frames(drawn.append)

    frames.want(Changes(frozenset("a")))
    frames.now()
    for changes in (Changes(frozenset("b")), Changes(frozenset("b")), Changes.of("spinner"), Changes(frozenset("a"))):
        frames.want(changes)
    frames.want(Changes(removed=frozenset("a")))
    frames.now()

    assert drawn == [
        Changes(frozenset("a")),
        Changes(frozenset("b"), removed=frozenset("a"), parts=frozenset(("spinner",))),
    ]
