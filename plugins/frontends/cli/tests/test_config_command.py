"""``pi config`` shows what is set and where, and changes it."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.slow  # each starts programs that take seconds

DECLARES = """
from pi_hookspecs import PluginSetting, hookimpl

@hookimpl
def register_settings():
    level = {"enum": ["low", "high"], "default": "low"}
    return [PluginSetting("acme.enabled"), PluginSetting("acme.level", schema=level, description="How much")]
"""


@pytest.fixture
def settings(pi):
    """The user's file and the project's, written and read as values."""
    pi.mine, pi.ours = pi.agent_dir / "settings.json", pi.cwd / ".pi" / "settings.json"

    def write(values, file=pi.mine):
        file.parent.mkdir(exist_ok=True)
        file.write_text(values if isinstance(values, str) else json.dumps(values, indent=2))

    def config(*arguments, code=0, **env):
        done = pi.run("config", *arguments, **env)
        assert done.returncode == code, done.stderr
        return done.stdout if code == 0 else done.stderr

    pi.write, pi.config, pi.read = write, config, lambda file=pi.mine: json.loads(file.read_text())
    return pi


class TestList:
    def test_each_value_says_where_it_comes_from(self, settings):
        settings.write({"theme": "dark", "retry": {"maxRetries": 5}, "quietStartup": True})
        settings.write({"theme": "light"}, settings.ours)

        lines = settings.config("list", "--approve", PI_HARDWARE_CURSOR="1").splitlines()

        assert [line.split() for line in lines] == [
            ["theme", '"light"', f"{settings.ours}:2"],
            ["retry.maxRetries", "5", f"{settings.mine}:4"],
            ["quietStartup", "true", f"{settings.mine}:6"],
            ["showHardwareCursor", "true", "PI_HARDWARE_CURSOR"],
        ]

    def test_an_untrusted_project_is_left_out_with_a_notice(self, settings):
        settings.write({"theme": "light"}, settings.ours)

        done = settings.run("config", "list")

        assert done.stdout == ""
        assert f"{settings.cwd} is not trusted" in done.stderr

    def test_with_all_the_defaults_are_listed_too(self, settings):
        settings.write({"theme": "dark"})

        rows = json.loads(settings.config("list", "--all", "--json"))

        values = {row["name"]: row["value"] for row in rows}
        assert (values["theme"], values["retry.maxRetries"], values["shellPath"]) == ("dark", 3, None)
        assert {row["origin"] for row in rows} == {None, f"{settings.mine}:2"}

    def test_what_cannot_be_used_is_reported_with_file_line_and_key(self, settings):
        settings.write({"theme": "dark", "steeringMode": "both"})

        done = settings.run("config", "list")

        assert done.stderr == (
            f"Warning: Setting 'steeringMode' must be one-at-a-time or all, not \"both\" ({settings.mine}:3)\n"
        )
        assert done.returncode == 0

    def test_what_looks_like_a_secret_is_hidden(self, settings):
        settings.write({"acme": {"apiKey": "sk-1", "tokens": 5}})

        out = settings.config("list")

        assert "sk-1" not in out
        assert "(hidden)" in out


class TestGet:
    @pytest.mark.parametrize(
        ("key", "printed"),
        [
            ("theme", "dark\n"),
            ("acme", '{"a.b": [1]}\n'),
            (
                "terminal",
                (
                    '{"showImages": true, "images": "auto", "imageWidthCells": 80, "hyperlinks": "auto",'
                    ' "trueColor": "auto", "showTerminalProgress": false, "clearOnShrink": false}\n'
                ),
            ),
            ("images", '{"autoResize": false, "blockImages": false}\n'),
            ("retry.maxRetries", "5\n"),
            ("retry.enabled", "true\n"),
            ('acme."a.b"', "[1]\n"),
        ],
    )
    def test_the_value_in_force_or_its_default(self, settings, key, printed):
        set_here = {"theme": "dark", "retry": {"maxRetries": 5}, "images": {"autoResize": False}}
        settings.write({**set_here, "acme": {"a.b": [1]}})

        assert settings.config("get", key) == printed

    @pytest.mark.parametrize(
        ("key", "message"),
        [
            ("shellPath", "Error: Setting 'shellPath' is not set, and has no default\n"),
            ("retry.maxRetry", "Error: Unknown setting: retry.maxRetry. Did you mean retry.maxRetries"),
            ("zzz", "Error: Unknown setting: zzz. pi config list --all lists them\n"),
        ],
    )
    def test_what_has_none_is_an_error(self, settings, key, message):
        assert settings.config("get", key, code=1).startswith(message)


class TestSet:
    @pytest.mark.parametrize(
        ("key", "text", "value"),
        [
            ("theme", "dark", "dark"),
            ("defaultModel", "5", "5"),
            ("retry.maxRetries", "5", 5),
            ("quietStartup", "true", True),
            ("enabledModels", '["a", "b*"]', ["a", "b*"]),
            ("acme.answer", "42", 42),
            ("acme.word", "hello", "hello"),
        ],
    )
    def test_a_value_is_what_the_setting_wants(self, settings, key, text, value):
        settings.config("set", key, text)

        stored = settings.read()
        for step in key.split("."):
            stored = stored[step]
        assert stored == value

    @pytest.mark.parametrize("arguments", [("retry.jitter", "-1"), ("retry.jitter", "-1", "--project")])
    def test_a_negative_number_is_a_value_and_no_option(self, settings, arguments):
        assert "must be a number of at least 0, not -1" in settings.config("set", *arguments, code=1)

    def test_a_list_that_is_not_json_is_printed_as_json(self, settings):
        assert settings.config("set", "enabledModels", "a, b*", code=1) == (
            """Error: Setting 'enabledModels' must be a list of strings, not 'a, b*'. As JSON that is '["a", "b*"]'\n"""
        )

    def test_a_value_of_the_project_needs_a_trusted_one(self, settings):
        done = settings.run("config", "set", "theme", "dark", "--project")

        assert settings.read(settings.ours) == {"theme": "dark"}
        assert "is not trusted, so its settings are not used. Run pi trust" in done.stderr

    def test_a_stronger_value_is_reported(self, settings):
        settings.write({"theme": "light"}, settings.ours)

        done = settings.run("config", "set", "theme", "dark", "-a")

        assert done.stderr == f'Warning: {settings.ours}:2 sets "light", which takes precedence\n'

    def test_a_name_that_is_nearly_one_is_asked_about(self, settings):
        done = settings.run("config", "set", "thme", "dark")

        assert "'thme' is not a setting of pi or a plugin. Did you mean theme or themes?" in done.stderr
        assert settings.read() == {"thme": "dark"}

    def test_the_settings_of_plugins_are_known(self, settings):
        settings.install("acme", DECLARES)

        done = settings.run("config", "set", "acme.enabled", "true")
        nearly = settings.run("config", "set", "acme.enable", "true")

        assert done.stderr == ""
        assert "Did you mean acme.enabled" in nearly.stderr

    def test_the_settings_of_plugins_are_like_pis_own(self, settings):
        settings.install("acme", DECLARES)

        refused = settings.run("config", "set", "acme.level", "max")
        rows = {row["name"]: row["value"] for row in json.loads(settings.config("list", "--all", "--json"))}
        schema = json.loads(settings.config("schema"))

        assert "'acme.level' must be low or high, not \"max\"" in refused.stderr
        assert not settings.mine.exists()
        assert (rows["acme.level"], settings.config("get", "acme.level")) == ("low", "low\n")
        assert schema["properties"]["acme"]["properties"]["level"]["description"] == "How much"

    def test_a_key_that_no_installed_plugin_declares_is_named(self, settings):
        settings.write({"theme": "dark", "acme": {"level": "low"}})

        done = settings.run("config", "list")

        assert done.stderr == f"Warning: 'acme' is not a setting of pi or of an installed plugin ({settings.mine}:3)\n"

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["retry.maxRetries", "many"], "Setting 'retry.maxRetries' must be a whole number of at least 0"),
            (["defaultProjectTrust", "always", "--project"], "only your own settings may set it"),
            (["theme"], "pi config set takes KEY and VALUE, not 1 words"),
            (["theme", "dark", "--all"], "--all is not an option of pi config set"),
        ],
    )
    def test_what_cannot_be_is_refused(self, settings, arguments, message):
        assert message in settings.config("set", *arguments, code=1)
        assert not settings.mine.exists()
        assert not settings.ours.exists()

    def test_a_broken_file_is_left_alone(self, settings):
        settings.write("{oops")

        assert f"{settings.mine}:1:2" in settings.config("set", "theme", "dark", code=1)
        assert settings.mine.read_text() == "{oops"

    def test_a_value_is_taken_out_again(self, settings):
        settings.write({"theme": "dark", "retry": {"maxRetries": 5}})

        settings.config("unset", "retry.maxRetries")

        assert settings.read() == {"theme": "dark"}
        assert "is not set in the project settings" in settings.config("unset", "theme", "--project", code=1)


def test_the_schema_is_printed(settings):
    schema = json.loads(settings.config("schema"))

    assert schema["properties"]["steeringMode"]["enum"] == ["one-at-a-time", "all"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["off"], "pi config off needs the name of a plugin"),
        (["lst"], "Unknown command of pi config: lst. Did you mean list"),
    ],
)
def test_a_command_is_needed(settings, arguments, message):
    assert message in settings.config(*arguments, code=1)


def test_help_is_printed(settings):
    assert settings.config("--help").startswith("Usage: pi config [-l]")


def test_the_name_of_a_key_cannot_speak_to_the_terminal(pi):
    (pi.agent_dir / "settings.json").write_text('{"a\\u001b[31m\\nb": 1}')

    output = pi.run("config", "list").stdout

    assert "\x1b" not in output
    assert len(output.splitlines()) == 1
