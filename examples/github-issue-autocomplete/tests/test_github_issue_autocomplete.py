"""Issues are read once, and completed by number and by title."""

from __future__ import annotations

import json
import stat

import pytest

pytestmark = pytest.mark.pi(screen=True)

ISSUES = [{"number": 7, "title": "The clock is slow"}, {"number": 71, "title": "Add a harbour"}]


@pytest.fixture
def gh(tmp_path, monkeypatch):
    """A program ``gh`` that counts its calls; the test says what it does."""
    folder = tmp_path / "programs"
    folder.mkdir()

    def does(lines):
        program = folder / "gh"
        program.write_text(f"#!/bin/sh\necho call >> '{folder}/calls'\n{lines}\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", str(folder), prepend=":")
        return lambda: (folder / "calls").read_text().count("call")

    return does


async def completed(fake_ui, text):
    (provider,) = fake_ui.autocomplete_providers
    return [each.value for each in await provider(text, len(text)) or ()]


async def test_numbers_and_titles_are_completed_from_one_list(gh, pi_session, fake_ui):
    calls = gh(f"echo '{json.dumps(ISSUES)}'")

    found = [await completed(fake_ui, text) for text in ("see #7", "#71", "#har", "#", "no#7", "plain")]

    assert found == [["#7", "#71"], ["#71"], ["#71"], ["#7", "#71"], [], []]
    assert calls() == 1


async def test_without_issues_the_reason_is_a_notice(gh, pi_session, fake_ui):
    gh("echo 'no repository here' >&2; exit 1")

    assert await completed(fake_ui, "#1") == []
    assert fake_ui.notices[0].message == "No issues are completed: no repository here"
