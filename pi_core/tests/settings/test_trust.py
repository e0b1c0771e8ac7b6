"""A project's files are ignored until it is trusted, and the closest decision applies."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_core import ProjectTrust, Settings, TrustStore, create_agent_session
from pi_core.settings.trust import project_resources
from pi_hookspecs import UserError
from pi_testing.patience import PATIENCE


@pytest.fixture
def agent(tmp_path):
    folder = tmp_path / "home" / ".pi" / "agent"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "work" / "project"
    (folder / ".pi").mkdir(parents=True)
    (folder / ".pi" / "settings.json").write_text('{"theme": "dark"}')
    return folder


@pytest.fixture
def environ(tmp_path):
    return {"HOME": str(tmp_path / "home")}


class TestWhatNeedsTrust:
    def test_everything_in_pi_that_can_run_code_or_instruct_the_model(self, project, environ):
        names = [
            "settings.json",
            "mcp.json",
            "agents",
            "extensions",
            "skills",
            "prompts",
            "themes",
            "SYSTEM.md",
            "APPEND_SYSTEM.md",
        ]
        for name in (*names[1:], "notes.md", "sessions"):
            (project / ".pi" / name).touch()

        assert list(project_resources(project, environ)) == [project / ".pi" / name for name in names]

    def test_the_agents_that_a_project_has_for_claude_code(self, project, environ):
        (project / ".claude" / "agents").mkdir(parents=True)
        home = Path(environ["HOME"])
        (home / ".claude" / "agents").mkdir(parents=True)

        assert list(project_resources(project, environ))[1:] == [project / ".claude" / "agents"]
        assert home / ".claude" / "agents" not in project_resources(home, environ)

    def test_the_servers_that_a_project_names(self, project, environ):
        (project / ".mcp.json").touch()

        assert list(project_resources(project, environ))[1:] == [project / ".mcp.json"]

    def test_skills_for_any_agent_up_to_the_root_of_the_repository(self, project, environ):
        inner = project / "a" / "b"
        for folder in (inner, project, project.parent):
            (folder / ".agents" / "skills").mkdir(parents=True)
        (project / ".git").mkdir()

        assert list(project_resources(inner, environ)) == [inner / ".agents" / "skills", project / ".agents" / "skills"]

    def test_the_users_own_skills_need_none(self, tmp_path, environ):
        below = tmp_path / "home" / "work"
        below.mkdir(parents=True)
        (tmp_path / "home" / ".agents" / "skills").mkdir(parents=True)

        assert list(project_resources(below, environ)) == []

    def test_links_that_lead_nowhere_count(self, project, environ):
        (project / ".pi" / "SYSTEM.md").symlink_to("nowhere")

        assert project / ".pi" / "SYSTEM.md" in project_resources(project, environ)

    @pytest.mark.parametrize("folder", ["/", "nowhere/at/all", "a\0b"])
    def test_folders_that_cannot_be_used_have_nothing(self, agent, folder, environ):
        trust = ProjectTrust.decide(folder, agent, environ=environ)

        assert trust.notice is None
        assert trust.is_trusted is False


class TestDecisions:
    def test_undecided_is_no_and_says_what_is_left_out_and_what_to_do(self, project, agent, environ):
        trust = ProjectTrust.decide(project, agent, environ=environ)

        assert (trust.is_trusted, trust.decided) == (False, False)
        assert trust.skipped == trust.resources == (project / ".pi" / "settings.json",)
        assert trust.notice == (
            f"{project} is not trusted (it has not been decided yet); not used: {Path('.pi', 'settings.json')}."
            " Run pi trust to use them from now on, or add --approve for this run (see pi help security)"
        )

    def test_a_project_without_such_files_is_neither_mentioned_nor_trusted(self, tmp_path, agent, environ):
        trust = ProjectTrust.decide(tmp_path, agent, environ=environ)

        assert trust.notice is None
        assert trust.is_trusted is False

    @pytest.mark.parametrize(("default", "trusted"), [("always", True), ("never", False)])
    def test_the_users_default_decides_where_no_other_answer_exists(self, project, agent, environ, default, trusted):
        trust = ProjectTrust.decide(project, agent, default=default, environ=environ)

        assert (trust.is_trusted, trust.decided) == (trusted, True)
        assert trust.why == f"the setting defaultProjectTrust is {default}"
        assert trust.notice is None

    def test_a_saved_decision_wins_over_the_default(self, project, agent, environ):
        TrustStore(agent).remember(project, trusted=False)

        trust = ProjectTrust.decide(project, agent, default="always", environ=environ)

        assert trust.is_trusted is False
        assert trust.why == f"saved in trust.json for {project}"
        assert trust.skipped

    def test_the_closest_parent_counts(self, project, agent, environ):
        store = TrustStore(agent)
        store.remember(project.parent.parent, trusted=False)
        store.remember(project.parent, trusted=True)

        assert ProjectTrust.decide(project, agent, environ=environ).is_trusted is True
        store.remember(project, trusted=False)
        assert ProjectTrust.decide(project, agent, environ=environ).is_trusted is False
        assert ProjectTrust.decide(project / "below", agent, environ=environ).is_trusted is False

    @pytest.mark.parametrize("below", [".", "src/deep"])
    def test_a_repository_with_files_of_its_own_is_asked_about_anew_below_a_trusted_folder(
        self, project, agent, environ, below
    ):
        TrustStore(agent).remember(project, trusted=True)
        clone = project / "vendor" / "clone"
        (clone / ".git").mkdir(parents=True)
        here = clone / below
        (here / ".pi" / "extensions").mkdir(parents=True)

        trust = ProjectTrust.decide(here, agent, environ=environ)

        assert (trust.is_trusted, trust.decided) == (False, False)
        TrustStore(agent).remember(clone, trusted=True)
        assert ProjectTrust.decide(here, agent, environ=environ).is_trusted is True

    @pytest.mark.parametrize("below", ["", "docs"])
    def test_a_repository_in_a_trusted_folder_is_undecided_before_such_files_arrive(
        self, project, agent, environ, below
    ):
        TrustStore(agent).remember(project, trusted=True)
        here = project / "clone" / below
        here.mkdir(parents=True)
        (project / "clone" / ".git").mkdir()

        trust = ProjectTrust.decide(here, agent, environ=environ)

        assert (trust.is_trusted, trust.decided, trust.notice) == (False, False, None)

    def test_settings_that_arrive_in_a_clone_while_pi_runs_are_not_used(self, project, agent, environ):
        TrustStore(agent).remember(project, trusted=True)
        clone = project / "clone"
        (clone / ".git").mkdir(parents=True)
        settings = Settings.load(clone, agent, environ=environ)

        (clone / ".pi").mkdir()
        (clone / ".pi" / "settings.json").write_text('{"theme": "evil"}')

        assert settings.get("theme") is None
        settings.reload()
        assert settings.get("theme") is None
        assert "not trusted" in settings.project_trust.notice

    def test_the_root_of_a_trusted_repository_covers_all_of_it(self, project, agent, environ):
        TrustStore(agent).remember(project, trusted=True)
        (project / ".git").mkdir()
        (project / "package" / ".pi" / "extensions").mkdir(parents=True)

        assert ProjectTrust.decide(project / "package", agent, environ=environ).is_trusted is True

    def test_a_refusal_covers_repositories_below(self, project, agent, environ):
        TrustStore(agent).remember(project, trusted=False)
        clone = project / "clone"
        (clone / ".git").mkdir(parents=True)
        (clone / ".pi" / "extensions").mkdir(parents=True)

        assert TrustStore(agent).decision(clone) == (project, False)

    def test_a_name_that_only_begins_alike_is_another_folder(self, project, agent):
        TrustStore(agent).remember(project, trusted=True)

        assert TrustStore(agent).decision(f"{project}-evil") is None

    def test_a_link_is_as_trusted_as_what_it_leads_to(self, project, agent, tmp_path, environ):
        trusted = tmp_path / "trusted"
        trusted.mkdir()
        TrustStore(agent).remember(trusted, trusted=True)
        (trusted / "link").symlink_to(project)

        trust = ProjectTrust.decide(trusted / "link", agent, environ=environ)

        assert trust.cwd == project
        assert trust.is_trusted is False


class TestTheFile:
    def test_it_is_an_object_of_folders(self, project, agent):
        store = TrustStore(agent)
        store.remember(project, trusted=True)
        store.remember(project.parent, trusted=False)

        assert json.loads(store.file.read_text()) == {str(project): True, str(project.parent): False}

    def test_what_others_decided_stays(self, project, agent):
        store = TrustStore(agent)
        store.file.write_text('{"/somewhere": null, "/else": true}')

        store.remember(project, trusted=True)
        store.remember(project, trusted=None)

        assert json.loads(store.file.read_text()) == {"/somewhere": None, "/else": True}
        assert store.decisions() == {"/else": True}

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("{", ":1:2: Expecting property name"),
            ("[]", ": must contain a JSON object, not []"),
            ('{"/a": "yes"}', ": '/a' must be true, false or null, not \"yes\""),
            ('{"/a": 1}', ": '/a' must be true, false or null, not 1"),
        ],
    )
    def test_an_unusable_file_trusts_no_project(self, project, agent, environ, content, message):
        (agent / "trust.json").write_text(content)

        trust = ProjectTrust.decide(project, agent, default="always", environ=environ)

        assert trust.is_trusted is False
        assert trust.why.startswith(f"{agent / 'trust.json'}{message}")
        assert trust.why in trust.notice
        assert trust.notice.endswith(
            " Repair or remove trust.json, which decides nothing as it is, or add --approve for this run"
            " (see pi help security)"
        )

    @pytest.mark.parametrize("content", ["{", '{"/a": "yes"}'])
    def test_an_unusable_file_is_not_overwritten_and_the_error_says_what_to_do(self, project, agent, content):
        (agent / "trust.json").write_text(content)

        with pytest.raises(UserError, match=r"Nothing was changed\. Repair or remove trust\.json"):
            TrustStore(agent).remember(project, trusted=True)

        assert (agent / "trust.json").read_text() == content

    def test_paths_that_people_write_are_understood(self, project, agent):
        (agent / "trust.json").write_text(json.dumps({f"{project.parent}/./": True, "": False, ".": False}))

        assert TrustStore(agent).decision(project) == (project.parent, True)

    @given(st.binary(max_size=30))
    def test_no_content_trusts_by_accident(self, tmp_path_factory, content):
        folder = tmp_path_factory.mktemp("agent")
        (folder / "trust.json").write_bytes(content)

        assert ProjectTrust.decide(folder, folder).is_trusted is False

    @pytest.mark.slow
    def test_two_processes_that_decide_at_once_lose_nothing(self, agent):
        program = (
            "import sys; from pi_core import TrustStore\n"
            "for n in range(20): TrustStore(sys.argv[1]).remember(f'/{sys.argv[2]}/{n}', trusted=True)"
        )
        deciders = [subprocess.Popen([sys.executable, "-c", program, agent, name]) for name in "ab"]

        assert [each.wait(PATIENCE) for each in deciders] == [0, 0]
        assert len(TrustStore(agent).decisions()) == 40


class TestWithoutACommandLine:
    def test_settings_of_an_untrusted_project_do_not_apply(self, project, agent, environ):
        settings = Settings.load(project, agent, environ=environ)

        assert settings.all() == {}
        assert settings.project_trust.skipped == (project / ".pi" / "settings.json",)

    def test_after_a_decision_they_do(self, project, agent, environ):
        TrustStore(agent).remember(project, trusted=True)

        assert Settings.load(project, agent, environ=environ).get("theme") == "dark"

    def test_an_untrusted_file_is_not_even_opened(self, project, agent, environ):
        (project / ".pi" / "settings.json").unlink()
        os.mkfifo(project / ".pi" / "settings.json")

        assert Settings.load(project, agent, environ=environ).problems == []

    @pytest.mark.parametrize("trusted", [True, False])
    async def test_plugins_and_programs_can_ask_a_session(self, project, agent, trusted):
        TrustStore(agent).remember(project, trusted=trusted)

        async with create_agent_session(cwd=project, agent_dir=agent, model="offline/rules") as session:
            assert session.is_project_trusted() is session.ctx.is_project_trusted() is trusted
            assert session.settings.get("theme") == ("dark" if trusted else None)

    async def test_trust_in_one_project_is_none_in_another(self, project, agent, tmp_path):
        other = tmp_path / "other"
        (other / ".pi" / "skills").mkdir(parents=True)
        settings = Settings.load(project, agent, trust=True)

        async with create_agent_session(cwd=other, settings=settings, model="offline/rules") as session:
            assert session.is_project_trusted() is False

        assert settings.trust_of(project).is_trusted is True
        assert settings.trust_of(other).skipped == (other / ".pi" / "skills",)
        TrustStore(agent).remember(other, trusted=True)
        assert settings.trust_of(other).is_trusted is True
