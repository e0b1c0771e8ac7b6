"""``/permissions`` and ``pi permissions``: remembered decisions are listed and undone in one place."""

from __future__ import annotations

import json

import pytest

import pi_cli
from pi_cli.permissions import _rows
from pi_core import TrustStore
from pi_core.host.approved import approve_packages, are_packages_approved
from pi_hookspecs import Permission

pytestmark = pytest.mark.pi(plugins={"cli": pi_cli})


@pytest.fixture
def trusted(pi_agent_dir, tmp_path):
    store = TrustStore(pi_agent_dir)
    for folder, answer in (("ketch", True), ("yawl", False)):
        (tmp_path / folder).mkdir()
        store.remember(tmp_path / folder, trusted=answer)
    return store


async def test_the_user_undoes_one_decision_after_another(pi_session, fake_ui, trusted, tmp_path):
    def rows(ui):
        return [each.options for each in ui.asked if each.title == "Remembered decisions"]

    fake_ui.answers(None)
    await pi_session.prompt("/permissions")
    [first, second] = rows(fake_ui)[0]
    fake_ui.answers(first, "Undo it: ask again next time", None)
    await pi_session.prompt("/permissions")

    assert first.startswith("allowed  ")
    assert "/ketch Trusted folders " in " ".join(first.split())
    assert second.startswith("refused  ")
    [left] = rows(fake_ui)[-1]
    assert left.split() == second.split()  # alone, its columns need not be as wide
    assert [*trusted.decisions()] == [str(tmp_path / "yawl")]
    assert [each.message for each in fake_ui.notices] == [f"Undone: {tmp_path / 'ketch'}"]


async def test_without_a_decision_it_says_so(pi_session, fake_ui):
    await pi_session.prompt("/permissions")

    assert [each.message for each in fake_ui.notices] == ["No decision is remembered yet."]


async def test_approved_packages_are_asked_about_again_once_undone(pi_session, pi_agent_dir, tmp_path):
    project = pi_session.cwd
    (project / ".pi").mkdir(exist_ok=True)
    (project / ".pi" / "settings.json").write_text(json.dumps({"packages": ["npm:tides"]}))
    approve_packages(pi_agent_dir, project)

    [permission] = await pi_session.ctx.list_permissions()
    assert permission.what == "npm:tides"
    await pi_session.ctx.remove_permission(permission)

    assert await pi_session.ctx.list_permissions() == []
    assert not are_packages_approved(pi_agent_dir, project)


@pytest.mark.slow
def test_the_subcommand_lists_numbers_and_removes_by_them(pi):
    (pi.agent_dir / "settings.json").write_text(json.dumps({"sandbox": {"write": ["/srv/tide"]}}))
    pi.run("trust")
    listed = pi.run("permissions")
    values = json.loads(pi.run("permissions", "--json").stdout)

    first, second = listed.stdout.splitlines()
    assert first.split()[:3] == ["1", "allowed", "/srv/tide"]
    assert "Trusted folders" in second
    assert [(each["store"], each["what"]) for each in values][1] == ("Trusted folders", str(pi.cwd))

    assert "Undone: /srv/tide" in pi.run("permissions", "--remove", "1").stderr
    assert len(pi.run("permissions").stdout.splitlines()) == 1
    wrong = pi.run("permissions", "--remove", "7")
    assert (wrong.returncode, "There is no decision 7" in wrong.stderr) == (1, True)


def test_escape_sequences_in_a_decision_and_its_folder_are_shown_and_not_sent():
    evil = "/srv/n\x1b]0;OWNED\x07x"

    (row,) = _rows([Permission("1", what=evil, place=evil, store="Approved servers")])

    assert "\x1b" not in row
    assert row.count(r"n\x1b]0;OWNED\x07x") == 2
