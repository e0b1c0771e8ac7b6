"""The extension on the page docs/user-interface.md works as it is written there, in each kind of front end."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pi_core import PluginHost, Settings
from pi_core.host.extensions import LocalExtensions
from pi_hookspecs import Line, Run
from pi_testing import RecordingScreen

PAGE = (Path(__file__).parents[2] / "docs" / "user-interface.md").read_text(encoding="utf-8")
LINES, EXTENSION, _ACTIVITIES, TEST = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture
def pi_host(pi_agent_dir, tmp_path):
    """A host with the page's extension."""
    (pi_agent_dir / "extensions").mkdir()
    (pi_agent_dir / "extensions" / "tasks.py").write_text(EXTENSION)
    host = PluginHost(Settings.in_memory({}, agent_dir=pi_agent_dir), installed=False)
    LocalExtensions(host, cwd=tmp_path).load()
    return host


def test_the_line_is_one():
    names = {}

    exec(LINES, names)  # noqa: S102 - the page's own

    assert names["row"] == Line.of("3 of ", Run("5", "accent", bold=True), " done")


names = {}
exec(TEST, names)  # noqa: S102 - the page's own
test_the_chosen_task_is_marked = names["test_the_chosen_task_is_marked"]


@pytest.mark.pi(screen=True)
async def test_escape_changes_nothing(pi_session, fake_ui):
    fake_ui.presses("down", "escape")

    await pi_session.prompt("/task")

    assert fake_ui.notices == []
    assert fake_ui.screens["tasks"].rows[1] == "→ write the test"


async def test_without_a_screen_there_are_lines_and_a_dialog(pi_session, fake_ui):
    fake_ui.answers("mend the clock")

    await pi_session.prompt("/task")

    assert fake_ui.asked == [("select", "Which task?", "", ("write the test", "mend the clock", "tell the harbour"))]
    assert fake_ui.widgets["tasks"][2] == "→ mend the clock"


def test_a_component_is_tested_alone():
    names = {}
    exec(EXTENSION, names)  # noqa: S102 - the page's own
    screen = RecordingScreen(lambda screen: names["TaskList"](screen, 0))

    used = screen.press("up", "x")

    assert (screen.rows[3], screen.refreshes, used) == ("→ tell the harbour", 1, False)
