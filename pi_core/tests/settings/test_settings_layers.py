"""What the environment sets, what older files say, what a project may not say, and lists that add up."""

from __future__ import annotations

import json

import pytest

from pi_core.settings import COMMAND_LINE, Settings


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
        environ = {"PI_CODING_AGENT_SESSION_DIR": "/sessions", "PI_HARDWARE_CURSOR": "1"}

        settings = load({"sessionDir": "/a"}, {"sessionDir": "/b"}, environ, overrides={"showHardwareCursor": False})

        assert settings.get("sessionDir") == "/sessions"
        assert settings.origin("sessionDir") == settings.place("sessionDir") == "PI_CODING_AGENT_SESSION_DIR"
        assert settings.get("showHardwareCursor") is False
        assert settings.place("showHardwareCursor") == COMMAND_LINE

    @pytest.mark.parametrize(("text", "value"), [("1", True), ("0", False), ("", None)])
    def test_switches_are_1_or_0(self, load, text, value):
        settings = load(environ={"PI_CLEAR_ON_SHRINK": text})

        assert settings.get("terminal.clearOnShrink") is value
        assert settings.problems == []

    @pytest.mark.parametrize(
        ("variable", "text", "name", "value"),
        [
            ("PI_HYPERLINKS", "auto", "hyperlinks", "auto"),
            ("PI_HYPERLINKS", "0", "hyperlinks", False),
            ("PI_TRUE_COLOR", "1", "trueColor", True),
            ("PI_IMAGE_PROTOCOL", "iterm2", "images", "iterm2"),
            ("PI_IMAGE_PROTOCOL", "0", "images", "none"),
        ],
    )
    def test_capabilities_of_the_terminal_can_be_forced(self, load, variable, text, name, value):
        settings = load({"terminal": {name: "of the file"}}, environ={variable: text})

        assert settings.get(f"terminal.{name}") == value

    def test_a_protocol_that_is_not_known_is_reported(self, load):
        (problem,) = load(environ={"PI_IMAGE_PROTOCOL": "sixel"}).problems

        assert problem == "PI_IMAGE_PROTOCOL must be none, 0, kitty, iterm2 or auto, not 'sixel'; it is ignored."

    def test_anything_else_is_reported(self, load):
        settings = load(environ={"PI_CLEAR_ON_SHRINK": "yes"})

        assert settings.get("terminal.clearOnShrink") is None
        assert settings.problems == ["PI_CLEAR_ON_SHRINK must be 1 or 0, not 'yes'; it is ignored."]


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
