"""Who is asked whether a project may be trusted, in which order, and what of it is kept."""

from __future__ import annotations

import pytest

from pi_core import PluginHost, ProjectTrust, Settings, TrustStore, ask_for_trust, confirm_trust
from pi_hookspecs import ProjectTrustResult, hookimpl
from pi_testing import FakeUI


class Says:
    """A plugin with an opinion."""

    def __init__(self, answer):
        self.answer = answer
        self.asked = []

    @hookimpl
    def project_trust(self, event, ctx):
        self.asked.append((event, ctx))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    (folder / ".pi" / "skills").mkdir(parents=True)
    return folder


@pytest.fixture
def ask(tmp_path, project):
    """Ask plugins with these answers; returns the trust, the plugins and the problems."""

    async def ask(*answers, folder=None, **how):
        agent = tmp_path / "agent"
        host = PluginHost(Settings.in_memory({"theme": "dark"}, agent), installed=False)
        plugins, problems = [Says(answer) for answer in answers], []
        for number, plugin in enumerate(plugins):
            host.add(plugin, f"guard-{number}")
        trust = ProjectTrust.decide(folder or project, agent, environ={})
        return await ask_for_trust(host, trust, report=problems.append, **how), plugins, problems

    return ask


def answer(trusted, *, remember=False):
    return ProjectTrustResult(trusted=trusted, remember=remember)


class TestPlugins:
    @pytest.mark.parametrize(("message", "trusted"), [("yes", True), ("no", False)])
    async def test_the_first_opinion_decides_and_no_other_plugin_is_asked(self, ask, message, trusted):
        trust, plugins, _ = await ask(None, answer("undecided"), answer(message), answer("yes"))

        assert (trust.is_trusted, trust.decided) == (trusted, True)
        assert trust.why == "plugin 'guard-2' says so"
        assert [len(each.asked) for each in plugins] == [1, 1, 1, 0]

    async def test_they_see_the_folder_and_what_is_there_before_a_session(self, ask, project):
        _, (plugin,), _ = await ask(None, mode="tui")
        (event, ctx), *_ = plugin.asked

        assert (event.cwd, event.resources) == (str(project), (str(project / ".pi" / "skills"),))
        assert (ctx.cwd, ctx.mode, ctx.has_ui, ctx.signal) == (project, "tui", False, None)
        assert ctx.settings.get("theme") == "dark"
        assert await ctx.ui.confirm("Trust?") is False

    async def test_they_are_asked_before_what_was_decided_counts(self, ask, tmp_path, project):
        TrustStore(tmp_path / "agent").remember(project, trusted=True)

        trust, _, _ = await ask(answer("no"))

        assert trust.is_trusted is False

    async def test_without_an_opinion_what_was_decided_counts(self, ask, tmp_path, project):
        TrustStore(tmp_path / "agent").remember(project, trusted=True)

        trust, _, _ = await ask(answer("undecided"))

        assert trust.is_trusted is True
        assert trust.why.startswith("saved in trust.json")

    async def test_an_opinion_can_be_kept(self, ask, tmp_path, project):
        await ask(answer("yes", remember=True))

        assert TrustStore(tmp_path / "agent").decision(project) == (project, True)

    async def test_it_is_not_kept_otherwise(self, ask, tmp_path, project):
        await ask(answer("yes"))

        assert TrustStore(tmp_path / "agent").decision(project) is None

    async def test_what_cannot_be_kept_counts_this_time_and_is_reported(self, ask, tmp_path):
        (tmp_path / "agent").write_text("a file")

        trust, _, problems = await ask(answer("yes", remember=True))

        assert trust.is_trusted is True
        assert problems[-1].endswith("The decision applies only to this run.")

    @pytest.mark.parametrize("wrong", [RuntimeError("oops"), True, answer("maybe")], ids=["raises", "type", "word"])
    async def test_a_failing_plugin_has_no_opinion_and_is_reported(self, ask, wrong):
        trust, _, problems = await ask(wrong)

        assert trust.is_trusted is False
        assert "Plugin 'guard-0'" in problems[0]

    async def test_a_project_without_files_of_its_own_asks_no_question(self, ask, tmp_path):
        (tmp_path / "plain").mkdir()

        trust, (plugin,), _ = await ask(answer("yes"), folder=tmp_path / "plain")

        assert trust.is_trusted is False
        assert plugin.asked == []


class TestTheUser:
    async def ask_user(self, ask, ui, *answers):
        async def question(trust):
            return await confirm_trust(ui, trust)

        trust, _, _ = await ask(*answers, ask=question)
        return trust

    @pytest.mark.parametrize(
        ("chosen", "trusted", "kept"),
        [
            ("Trust this folder", True, True),
            ("Trust it this time", True, None),
            ("Do not trust this folder", False, False),
            ("Not this time", False, None),
        ],
    )
    async def test_decides_for_now_or_for_good(self, ask, tmp_path, project, chosen, trusted, kept):
        trust = await self.ask_user(ask, FakeUI().answers(chosen))

        decision = TrustStore(tmp_path / "agent").decision(project)
        assert (trust.is_trusted, trust.why) == (trusted, "your answer")
        assert decision == (None if kept is None else (project, kept))

    async def test_trust_of_the_parent_extends_to_its_other_folders(self, ask, tmp_path, project):
        (tmp_path / "other").mkdir()

        trust = await self.ask_user(ask, FakeUI().answers("Trust its parent folder"))

        assert trust.is_trusted is True
        assert TrustStore(tmp_path / "agent").decision(tmp_path / "other") == (tmp_path, True)

    async def test_trust_of_the_parent_includes_a_repository_below_it(self, ask, tmp_path, project):
        (project / ".git").mkdir()

        await self.ask_user(ask, FakeUI().answers("Trust its parent folder"))

        assert TrustStore(tmp_path / "agent").decision(project) == (project, True)

    async def test_who_dismisses_the_question_has_not_decided(self, ask):
        trust = await self.ask_user(ask, FakeUI().answers(None))

        assert (trust.is_trusted, trust.decided) == (False, False)

    async def test_is_not_asked_where_a_plugin_or_trust_json_decided(self, ask, tmp_path, project):
        ui = FakeUI()

        assert (await self.ask_user(ask, ui, answer("yes"))).is_trusted is True
        TrustStore(tmp_path / "agent").remember(project, trusted=True)
        assert (await self.ask_user(ask, ui)).is_trusted is True
