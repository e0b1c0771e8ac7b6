"""What a trusted project's settings can do to the user's, for every setting of pi and its plugins, by its declaration.

The oracle is written down here once more, as what "stricter" means for each rule, and is independent of the code.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pi_core.host import PluginHost
from pi_core.host.declared_settings import HOOK
from pi_core.settings import Settings
from pi_core.settings.schema import project_rules
from pi_core.settings.values import look_up, name_of, nested, steps_of
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pi_core.settings.declared import DeclaredSetting
    from pi_core.settings.project_limits import ProjectRule

FREE = {
    "agents.enabled",
    "autocompleteMaxVisible",
    "bash.keepBackground",
    "branchSummary.reserveTokens",
    "branchSummary.skipPrompt",
    "codemode.enabled",
    "collapseChangelog",
    "compaction.enabled",
    "compaction.keepRecentTokens",
    "compaction.modelOverrides.*.enabled",
    "compaction.modelOverrides.*.keepRecentTokens",
    "compaction.modelOverrides.*.reserveTokens",
    "compaction.pinned",
    "compaction.reserveTokens",
    "defaultModel",
    "defaultProvider",
    "defaultThinkingLevel",
    "doubleEscapeAction",
    "editorPaddingX",
    "enableSkillCommands",
    "enabledModels",
    "extensions",
    "followUpMode",
    "fullscreenCopyOnSelect",
    "fullscreenExitOutput",
    "fullscreenMouse",
    "fullscreenScrollbar",
    "hideThinkingBlock",
    "httpIdleTimeoutMs",
    "httpProgressTimeoutMs",
    "imageGeneration.model",
    "images.autoResize",
    "localServersTimeoutMs",
    "markdown.codeBlockIndent",
    "markdown.mermaid",
    "memory.enabled",
    "modelThinkingLevels",
    "notifications.after",
    "notifications.terminal",
    "outputPad",
    "packages",
    "prompts",
    "quietStartup",
    "retry.baseDelayMs",
    "retry.enabled",
    "retry.failover",
    "retry.jitter",
    "retry.maxAgentDelayMs",
    "retry.maxDelayMs",
    "retry.maxRetries",
    "retry.provider.maxRetries",
    "retry.provider.maxRetryDelayMs",
    "retry.provider.timeoutMs",
    "showCacheMissNotices",
    "showHardwareCursor",
    "skills",
    "steeringInterrupt",
    "steeringMode",
    "systemPrompt.date",
    "terminal.clearOnShrink",
    "terminal.hyperlinks",
    "terminal.imageWidthCells",
    "terminal.images",
    "terminal.showImages",
    "terminal.showTerminalProgress",
    "terminal.trueColor",
    "theme",
    "themes",
    "thinkingBudgets.high",
    "thinkingBudgets.low",
    "thinkingBudgets.max",
    "thinkingBudgets.medium",
    "thinkingBudgets.minimal",
    "thinkingBudgets.xhigh",
    "todo.enabled",
    "toolExecution",
    "transport",
    "treeFilterMode",
    "tuiMode",
}
"""The settings that no policy, program, address or grant depends on. A new one is added here after some thought."""

WORDS = st.sampled_from(["a", "b", "read", "bash", "!a", "*", "off", "open", "refuse", "attested", "bwrap"])
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, 1, 2, 5, 1.5, -1]),
    WORDS,
    st.lists(WORDS | st.sampled_from([{"action": "allow"}, {"action": "deny"}]), max_size=3),
    st.dictionaries(WORDS, st.none() | st.booleans(), max_size=2),
)


def leaves(tree: dict[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], ProjectRule]]:
    for key, node in tree.items():
        if isinstance(node, dict):
            yield from leaves(node, (*above, key))
        else:
            yield (*above, key), node


@pytest.fixture(scope="module")
def declared(tmp_path_factory) -> tuple[DeclaredSetting, ...]:
    """The settings of pi's plugins."""
    return PluginHost(Settings.in_memory(agent_dir=tmp_path_factory.mktemp("agent"))).known_settings.declared


@pytest.fixture(scope="module")
def rules(declared) -> dict[tuple[str, ...], ProjectRule]:
    return dict(leaves(project_rules(declared=declared)))


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> tuple[Path, Path]:
    root = tmp_path_factory.mktemp("settings")
    (root / "agent").mkdir()
    (root / "project" / ".pi").mkdir(parents=True)
    return root / "agent", root / "project"


@pytest.fixture
def load(folders, declared):
    agent, project = folders

    def read(own: dict[str, Any], given: dict[str, Any]) -> Settings:
        (agent / "settings.json").write_text(json.dumps(own))
        (project / ".pi" / "settings.json").write_text(json.dumps(given))
        found = Settings.load(project, agent, trust=True, environ={})
        found.declare(lambda: declared)
        return found

    return read


def test_every_setting_of_pi_and_of_its_plugins_is_free_only_if_it_is_listed_here(rules):
    assert {name_of(steps) for steps, rule in rules.items() if rule.may == "set"} == FREE


def test_every_plugin_of_pi_says_what_a_project_may_do(declared):
    said = [
        (each.name, each.thing.project)
        for host in [PluginHost(Settings.in_memory())]
        for each in [*host.find_all(HOOK), *host.registrations(HOOK)]
        if hasattr(each, "thing")
    ]

    assert len(declared) > 20
    assert [name for name, may in said if may is None] == []


def is_loosened(rule: ProjectRule, alone: Any, both: Any) -> bool:  # noqa: PLR0911 - a return for each rule
    """Whether the value with the project's file is weaker than the user's alone, or their default."""
    mine = rule.unset if alone is None else alone
    if both is None or (both == alone and type(both) is type(alone)):
        return both is None and alone is not None
    if both == mine and type(both) is type(mine):
        return False  # the project says what holds without it
    match rule.may:
        case "set":
            return False
        case "nothing":
            return both != alone
        case "enable":
            return both is not True
        case "disable":
            return both is not False
        case "lower":
            return isinstance(mine, int | float) and not isinstance(mine, bool) and both > mine
        case "add" | "restrict":
            own = mine if isinstance(mine, list) else []
            more = [each for each in both if each not in own]
            gone = [each for each in own if each not in both]
            loose = [each for each in more if each in ("!a", {"action": "allow"})]
            return bool(gone) or (rule.may == "restrict" and bool(loose))
        case "narrow":
            own = mine if isinstance(mine, list | tuple) else rule.unset
            names = {each.lstrip("+") for each in both if isinstance(each, str) and each[:1] != "-"}
            return own is not None and "*" not in own and not names <= {str(each).lstrip("+") for each in own}
        case choices:
            return mine in choices and choices.index(both) > choices.index(mine)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_no_project_loosens_any_setting(data, rules, load):
    steps, rule = data.draw(st.sampled_from(sorted(rules.items(), key=lambda item: item[0])))
    path = tuple("x" if step == "*" else step for step in steps)
    own = data.draw(st.just({}) | VALUES.map(lambda value: nested(path, value)))
    given = data.draw(VALUES.map(lambda value: nested(path, value)))
    cut = data.draw(st.integers(1, len(path)))
    if data.draw(st.booleans()):
        given = nested(path[:cut], data.draw(VALUES))

    alone, both = load(own, {}).get(path), load(own, given).get(path)

    if rule.may != "set":
        assert not is_loosened(rule, alone, both), (rule, own, given)


@pytest.mark.parametrize(
    ("own", "project", "name"),
    [
        ({"guardrails": {"enabled": True}}, {"guardrails": {"enabled": False}}, "guardrails.enabled"),
        ({"guardrails": {"enabled": True}}, {"guardrails": None}, "guardrails.enabled"),
        ({"guardrails": {"enabled": True}}, {"plugins": {"disabled": ["guardrails"]}}, "plugins.disabled"),
        ({"plugins": {"required": ["guardrails"]}}, {"plugins": None}, "plugins.required"),
        ({"sandbox": {"mode": "landlock"}}, {"sandbox": {"mode": "off"}}, "sandbox.mode"),
        ({"budgets": {"run": {"requests": 2}}}, {"budgets": {"run": None}}, "budgets.run.requests"),
        ({"redact": {"provider": True}}, {"redact": {"provider": False}}, "redact.provider"),
        ({"codemode": {"preview": True}}, {"codemode": {"preview": False}}, "codemode.preview"),
        ({"images": {"blockImages": True}}, {"images": {"blockImages": False}}, "images.blockImages"),
        ({}, {"externalEditor": "./evil"}, "externalEditor"),
        ({}, {"shellPath": "./evil"}, "shellPath"),
        ({}, {"typescript": {"node": "./evil"}}, "typescript.node"),
        ({}, {"httpProxy": "http://evil.example"}, "httpProxy"),
        ({}, {"sessionDir": "./sessions"}, "sessionDir"),
        ({}, {"guardrails": {"protectedPaths": ["!.env"]}}, "guardrails.protectedPaths"),
        ({}, {"guardrails": {"rules": [{"command": "rm *", "action": "allow"}]}}, "guardrails.rules"),
        ({}, {"defaultTools": ["read", "process"]}, "defaultTools"),
        ({}, {"defaultTools": ["+grep"]}, "defaultTools"),
    ],
    ids=str,
)
def test_a_value_that_loosens_is_left_out_and_reported_once(load, own, project, name):
    found = load(own, project)

    alone = load(own, {}).get(name)
    assert load(own, project).get(name) in (alone, ["read"], [])
    (problem,) = found.problems
    assert problem.startswith(f"Setting '{name.split('.')[0]}")
    assert ".pi/settings.json) is ignored: " in problem
    found.refresh()
    assert len(found.problems) == 1


def test_an_empty_list_of_required_plugins_takes_none_away(load):
    found = load({"plugins": {"required": ["guardrails"]}}, {"plugins": {"required": []}})

    assert found.get("plugins.required") == ["guardrails"]


def test_what_a_project_adds_joins_the_users_list(load):
    rule = {"command": "git push *", "action": "deny"}

    found = load({"guardrails": {"rules": [rule]}}, {"guardrails": {"rules": [{"tool": "bash", "action": "deny"}]}})

    assert found.get("guardrails.rules") == [rule, {"tool": "bash", "action": "deny"}]
    assert [value for _, value in found.each("guardrails.rules")] == [[rule], [{"tool": "bash", "action": "deny"}]]


@pytest.mark.parametrize(
    ("own", "project", "expected"),
    [
        ({}, ["-bash"], ["-bash"]),
        (["read", "bash"], ["-bash"], ["read", "bash", "-bash"]),
        (["+grep"], ["-bash", "-write"], ["+grep", "-bash", "-write"]),
        (["read", "bash"], ["read"], ["read"]),
        (["read", "bash"], ["bash", "read", "-b*"], ["bash", "read", "-b*"]),
    ],
)
def test_a_project_may_remove_tools_from_the_users(load, own, project, expected):
    found = load({"defaultTools": own} if own else {}, {"defaultTools": project})

    assert (found.get("defaultTools"), found.problems) == (expected, [])


def test_a_list_is_narrowed_although_the_users_own_is_none(load):
    found = load({"defaultTools": True}, {"defaultTools": ["read", "process"]})

    assert found.get("defaultTools") == ["read"]


def test_what_a_project_adds_to_the_tools_is_left_out_of_its_changes(load):
    found = load({"defaultTools": ["read", "bash"]}, {"defaultTools": ["+grep", "-bash"]})

    assert found.get("defaultTools") == ["read", "bash", "-bash"]
    assert "+grep" in found.problems[0]
    assert "-bash" not in found.problems[0]


def test_what_the_command_line_sets_is_the_users_own(folders):
    agent, project = folders
    (project / ".pi" / "settings.json").write_text('{"sandbox": {"mode": "bwrap"}}')
    (agent / "settings.json").write_text("{}")

    found = Settings.load(project, agent, trust=True, overrides={"sandbox": {"mode": "off"}})

    assert found.get("sandbox.mode") == "off"


def test_a_projects_file_is_not_given_a_value_that_would_be_ignored(load):
    found = load({"redact": {"enabled": True}}, {})

    with pytest.raises(UserError, match=r"'redact\.enabled' cannot be false in a project's settings: "):
        found.set("redact.enabled", False, scope="project")
    found.set("redact.strict", True, scope="project")

    assert look_up(found.all(), steps_of("redact.strict")) is True
