"""What the environment sets, what older files say, what a project may not say, and lists that add up."""

from __future__ import annotations

import json

import pytest

from pi_core.settings import COMMAND_LINE, Settings
from pi_core.settings.declared import DeclaredSetting
from pi_core.settings.schema_info import KnownSettings


@pytest.fixture
def load(tmp_path):
    """Load the global file, the project's, and an environment."""

    def load(everywhere=None, here=None, environ=None, **how):
        for folder, content in ((tmp_path / "agent", everywhere), (tmp_path / "project" / ".pi", here)):
            folder.mkdir(parents=True, exist_ok=True)
            if content is not None:
                text = content if isinstance(content, str) else json.dumps(content)
                (folder / "settings.json").write_text(text, encoding="utf-8")
        how = {"trust": True, **how}
        return Settings.load(tmp_path / "project", tmp_path / "agent", environ=environ or {}, **how)

    return load


class TestEnvironment:
    def test_a_variable_wins_over_the_files_and_not_over_the_command_line(self, load):
        environ = {"PI_CODING_AGENT_SESSION_DIR": "/sessions", "ACME_CURSOR": "1"}

        settings = load({"sessionDir": "/a"}, {"sessionDir": "/b"}, environ, overrides={"acme": {"cursor": False}})
        declare(settings, acme("cursor", "ACME_CURSOR", type="boolean"))

        assert settings.get("sessionDir") == "/sessions"
        assert settings.origin("sessionDir") == settings.place("sessionDir") == "PI_CODING_AGENT_SESSION_DIR"
        assert settings.get("acme.cursor") is False
        assert settings.place("acme.cursor") == COMMAND_LINE


SWITCH = {"type": "boolean"}
IMAGES = {"enum": ["auto", "kitty", "none", False]}


class TestVariablesOfPlugins:
    """A plugin's declaration names an environment variable that also sets its setting."""

    @pytest.mark.parametrize(
        ("schema", "text", "value"),
        [
            (SWITCH, "1", True),
            (SWITCH, "0", False),
            (SWITCH, "", "of the file"),
            (IMAGES, "kitty", "kitty"),
            (IMAGES, "0", False),
            ({"type": "string"}, "1", "1"),
            ({"type": ["string", "null"]}, "[]", "[]"),
            ({}, "any text", "any text"),
            ({"type": "integer"}, "5", 5),
            ({"type": "array"}, '["a"]', ["a"]),
        ],
    )
    def test_its_text_is_a_value_of_the_schema(self, load, schema, text, value):
        settings = load({"acme": {"look": "of the file"}}, environ={"ACME_LOOK": text})
        declare(settings, acme("look", "ACME_LOOK", **schema))

        assert settings.get("acme.look") == value
        assert settings.place("acme.look").startswith("ACME_LOOK" if text else "/")
        assert settings.problems == []

    @pytest.mark.parametrize(
        ("schema", "text", "problem"),
        [
            (SWITCH, "yes", "ACME_LOOK must be 1 or 0, not 'yes'; it is ignored."),
            (IMAGES, "sixel", "ACME_LOOK must be auto, kitty, none or 0, not 'sixel'; it is ignored."),
            ({"type": "integer"}, "many", "ACME_LOOK must be a JSON value, not 'many'; it is ignored."),
        ],
    )
    def test_any_other_text_is_reported_once(self, load, schema, text, problem):
        settings = load({"acme": {"look": "of the file"}}, environ={"ACME_LOOK": text})
        declare(settings, acme("look", "ACME_LOOK", **schema))
        declare(settings, acme("look", "ACME_LOOK", **schema))

        assert settings.get("acme.look") == "of the file"
        assert settings.problems == [problem]

    def test_it_stays_when_the_files_are_read_again(self, load, tmp_path):
        settings = load({"theme": "dark"}, environ={"ACME_LOOK": "1"})
        declare(settings, acme("look", "ACME_LOOK", **SWITCH))
        settings.set("theme", "light")

        assert (settings.get("acme.look"), settings.get("theme")) == (True, "light")

    def test_another_declaration_of_the_same_setting_adds_none(self, load):
        settings = load(environ={"OTHER": "1"})
        declare(settings, acme("look", None, **SWITCH), acme("look", "OTHER", **SWITCH))

        assert settings.get("acme.look") is None

    def test_it_is_listed(self):
        known = KnownSettings((acme("look", "ACME_LOOK", **SWITCH),))

        assert known.find(("acme", "look")).variable == "ACME_LOOK"


def acme(name, variable, **schema):
    return DeclaredSetting(f"acme.{name}", schema, "What it does", "set", False, "acme", variable)


def declare(settings, *declared):
    settings.declare(lambda: declared, frozenset(each.variable for each in declared if each.variable))


class TestOldNames:
    @pytest.mark.parametrize(
        ("old", "today"),
        [
            ({"queueMode": "all"}, {"steeringMode": "all"}),
            ({"queueMode": "all", "steeringMode": "one-at-a-time"}, {"steeringMode": "one-at-a-time"}),
            ({"websockets": True}, {"transport": "websocket"}),
            ({"websockets": False, "transport": "auto"}, {"transport": "auto"}),
            ({"websockets": "odd"}, {"websockets": "odd"}),
            ({"skills": {"enableSkillCommands": False}}, {"enableSkillCommands": False}),
            (
                {"skills": {"enableSkillCommands": False, "customDirectories": ["~/s"]}, "enableSkillCommands": True},
                {"skills": ["~/s"], "enableSkillCommands": True},
            ),
            ({"skills": ["~/s"]}, {"skills": ["~/s"]}),
            ({"httpIdleTimeoutMs": "disabled"}, {"httpIdleTimeoutMs": 0}),
        ],
        ids=str,
    )
    def test_they_are_read_as_todays(self, load, old, today):
        assert load(old).all() == today


class TestWhatAProjectMayNotSay:
    def test_a_project_cannot_ask_to_be_trusted(self, load):
        settings = load(None, {"defaultProjectTrust": "always", "theme": "dark"}, trust=None)

        assert settings.project_trust.is_trusted is False
        assert settings.all() == {}

    def test_its_own_setting_does_not_count_even_when_it_is_trusted(self, load, tmp_path):
        settings = load(None, {"defaultProjectTrust": "always", "theme": "dark"})

        assert settings.all() == {"theme": "dark"}
        (problem,) = settings.problems
        file = tmp_path / "project" / ".pi" / "settings.json"
        permits = "only your own settings may set it"
        assert problem == f"Setting 'defaultProjectTrust' (\"always\" in {file}) is ignored: {permits}."

    def test_the_users_default_counts(self, load):
        assert load({"defaultProjectTrust": "always"}, {"theme": "dark"}, trust=None).get("theme") == "dark"
        assert load({"defaultProjectTrust": "never"}, {"theme": "dark"}, trust=None).get("theme") is None

    @pytest.mark.parametrize("value", ["sometimes", 5, True, ["always"]], ids=str)
    def test_an_unknown_default_is_reported_and_means_ask(self, load, value):
        settings = load({"defaultProjectTrust": value}, {"theme": "dark"}, trust=None)

        assert settings.get("theme") is None
        assert len(settings.problems) == 1
        assert settings.problems[0].startswith("Setting 'defaultProjectTrust' must be ask, always or never, not ")


class TestReading:
    def test_each_layer_is_reported_for_merged_lists(self, load, tmp_path):
        settings = load({"skills": ["a"]}, {"skills": ["b"]})

        assert settings.each("skills") == [
            (str(tmp_path / "agent" / "settings.json"), ["a"]),
            (str(tmp_path / "project" / ".pi" / "settings.json"), ["b"]),
        ]
        assert settings.each("themes") == []

    def test_a_choice_is_one_of_several(self, load):
        settings = load({"steeringMode": "all", "followUpMode": "some"})

        assert settings.get_choice("steeringMode", ("one-at-a-time", "all"), "one-at-a-time") == "all"
        assert settings.get_choice("followUpMode", ("one-at-a-time", "all"), "one-at-a-time") == "one-at-a-time"
        assert settings.problems[0].startswith("Setting 'followUpMode' must be one-at-a-time or all, not \"some\"")

    def test_a_problem_names_the_line(self, load, tmp_path):
        settings = load(None, '{\n  "retry": {\n    "enabled": true,\n    "maxRetries": "x"\n  }\n}')

        settings.get_number("retry.maxRetries", 3)

        file = tmp_path / "project" / ".pi" / "settings.json"
        assert settings.problems == [
            f"Setting 'retry.maxRetries' must be a number, not \"x\" ({file}:4); it is ignored."
        ]

    @pytest.mark.parametrize("text", ["{", '["a"]', "\x00"])
    def test_a_file_that_cannot_be_used_any_more_is_named_without_its_line(self, load, tmp_path, text):
        settings = load({"theme": 5})
        (tmp_path / "agent" / "settings.json").write_text(text)

        assert settings.get_str("theme", None) is None
        assert "settings.json" in settings.problems[0]
        assert settings.problems[1].startswith("Setting 'theme' must be a string, not 5")

    def test_names_with_dots_can_be_quoted(self, load):
        settings = load({"hooks": {"plugins": {"a.b": {"timeout": 5}}}})

        assert settings.get('hooks.plugins."a.b".timeout') == 5

    def test_reloading_reads_everything_again(self, load, tmp_path):
        settings = load({"theme": "dark"}, {"quietStartup": True}, trust=None)
        (tmp_path / "agent" / "settings.json").write_text('{"theme": "light", "defaultProjectTrust": "always"}')

        settings.reload()

        assert settings.get("theme") == "light"
        assert settings.get("quietStartup") is True
