"""The extension on the page docs/dialogs.md works as it is written there, with forms and without."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from pi_core import PluginHost, Settings
from pi_core.host.extensions import LocalExtensions
from pi_testing import FakeUI

PAGE = (Path(__file__).parents[2] / "docs" / "dialogs.md").read_text(encoding="utf-8")
APPROVAL, EXTENSION, SERVING, TEST = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture
def pi_host(pi_agent_dir, tmp_path):
    """A host with the page's extension."""
    (pi_agent_dir / "extensions").mkdir()
    (pi_agent_dir / "extensions" / "harbours.py").write_text(EXTENSION)
    host = PluginHost(Settings.in_memory({}, agent_dir=pi_agent_dir), installed=False)
    LocalExtensions(host, cwd=tmp_path).load()
    return host


names = {}
exec(TEST, names)  # noqa: S102 - the page's own
test_a_harbour_is_stored = names["test_a_harbour_is_stored"]


async def test_what_was_answered_is_an_entry(pi_session, fake_ui):
    fake_ui.answers({"name": "Brest", "zone": "UTC"})

    await pi_session.prompt("/harbour")

    assert pi_session.ctx.session.branch()[-1].data == {"name": "Brest", "depth": 5.0, "zone": "UTC"}


async def test_a_dismissed_form_changes_nothing(pi_session, fake_ui):
    fake_ui.answers(None)

    await pi_session.prompt("/harbour")

    assert fake_ui.opened_urls == []


async def test_a_program_serves_several_clients():
    session, terminal, browser = SimpleNamespace(), FakeUI(), FakeUI().answers(True)
    terminal.never_answers()
    names = {"session": session, "terminal": terminal, "browser": browser}
    exec(SERVING, names)  # noqa: S102 - the page's own

    assert await session.ui.confirm("Go on?")
    names["leave"]()
    session.ui.notify("done")
    assert ([*terminal.notices], browser.notices[0].message) == ([], "done")


async def test_the_approval_returns_what_was_chosen(pi_session):
    exec(APPROVAL, scope := {})  # noqa: S102 - the page's own
    pi_session.ui = FakeUI().answers("always", "Refuse")
    pi_session.has_ui = True

    assert await scope["may_deploy"]("staging", pi_session.ctx) == "always"
    assert await scope["may_deploy"]("staging", pi_session.ctx) is None
