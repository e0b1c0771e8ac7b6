"""What is in force, where it comes from, and what is said of files that cannot be used."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_core.settings import COMMAND_LINE, IN_MEMORY, Settings, agent_dir
from pi_testing import for_each


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "home" / ".pi" / "agent"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    (folder / ".pi").mkdir(parents=True)
    return folder


@pytest.fixture
def write(home, project):
    """Write the global file and the project's, as values or as text."""

    def write(everywhere=None, here=None):
        for folder, content in ((home, everywhere), (project / ".pi", here)):
            if content is not None:
                text = content if isinstance(content, str) else json.dumps(content)
                (folder / "settings.json").write_text(text, encoding="utf-8")

    return write


class TestPlaces:
    def test_agent_dir_is_in_the_home_folder(self):
        assert agent_dir({"HOME": "/home/ann"}) == Path("/home/ann/.pi/agent")

    @for_each(
        ("value", "path"),
        [
            ("/etc/pi", "/etc/pi"),
            ("~/x", "/home/ann/x"),
            ("~", "/home/ann"),
            ("rel/x", "rel/x"),
            ("~bob/x", "~bob/x"),
            ("", "/home/ann/.pi/agent"),
        ],
    )
    def test_agent_dir_comes_from_the_environment(self, value, path):
        assert agent_dir({"HOME": "/home/ann", "PI_CODING_AGENT_DIR": value}) == Path(path)

    def test_the_processs_environment_is_the_default(self, monkeypatch, tmp_path):
        monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path))

        assert agent_dir() == Settings.load(tmp_path).agent_dir == Settings.in_memory().agent_dir == tmp_path

    def test_an_unknown_home_directory_is_not_an_error(self):
        assert agent_dir({}).parts[-2:] == (".pi", "agent")

    def test_agent_dir_comes_from_the_given_environment(self, home, project, write):
        write({"theme": "dark"})

        settings = Settings.load(project, environ={"PI_CODING_AGENT_DIR": str(home)})

        assert settings.get("theme") == "dark"
        assert settings.agent_dir == home

    def test_missing_files_are_no_problem(self, tmp_path):
        settings = Settings.load(tmp_path / "nowhere", tmp_path / "nothing")

        assert settings.get("theme", "light") == "light"
        assert settings.problems == []


class TestPrecedence:
    def test_the_project_wins_over_the_global_file(self, home, project, write):
        write({"theme": "dark", "defaultModel": "a"}, {"theme": "light"})

        settings = Settings.load(project, home, trust=True)

        assert (settings.get("theme"), settings.get("defaultModel")) == ("light", "a")

    def test_objects_are_merged_key_by_key_to_any_depth(self, home, project, write):
        write(
            {"retry": {"enabled": True, "provider": {"timeoutMs": 1, "maxRetries": 2}}},
            {"retry": {"provider": {"maxRetries": 3}}},
        )

        assert Settings.load(project, home, trust=True).get("retry") == {
            "enabled": True,
            "provider": {"timeoutMs": 1, "maxRetries": 3},
        }

    def test_lists_are_replaced(self, home, project, write):
        write({"extensions": ["a", "b"]}, {"extensions": ["c"]})

        assert Settings.load(project, home, trust=True).get("extensions") == ["c"]

    def test_the_command_line_wins_over_both(self, home, project, write):
        write({"hooks": {"timeout": 1, "other": 1}}, {"hooks": {"timeout": 2}})

        settings = Settings.load(project, home, overrides={"hooks": {"timeout": 3}}, trust=True)

        assert settings.get("hooks") == {"timeout": 3, "other": 1}

    def test_origin_names_the_file(self, home, project, write):
        write({"a": {"x": 1, "y": 1}, "g": 1}, {"a": {"x": 2}})

        settings = Settings.load(project, home, overrides={"c": 1}, trust=True)

        assert settings.origin("a.x") == str(project / ".pi" / "settings.json")
        assert settings.origin("a.y") == settings.origin("g") == str(home / "settings.json")
        assert settings.origin("a") == str(project / ".pi" / "settings.json")
        assert settings.origin("c") == COMMAND_LINE
        assert settings.origin("nothing") is None
        assert Settings.in_memory({"m": 1}).origin("m") == IN_MEMORY

    def test_a_project_without_trust_is_not_read(self, home, project, write):
        write({"theme": "dark"}, "not even JSON")

        settings = Settings.load(project, home, trust=False)

        assert settings.get("theme") == "dark"
        assert settings.problems == []

    def test_null_unsets_what_is_below(self, home, project, write):
        write({"theme": "dark"}, {"theme": None})

        settings = Settings.load(project, home, trust=True)

        assert settings.get("theme", "default") == settings.get_str("theme", "default") == "default"


class TestAccess:
    def test_dots_lead_into_objects(self):
        settings = Settings.in_memory({"hooks": {"plugins": {"acme": {"timeout": 5}}}})

        assert settings.get("hooks.plugins.acme.timeout") == 5
        assert settings.get("hooks.plugins.other.timeout", 30) == 30
        assert settings.get("hooks.plugins.acme.timeout.more", 1) == 1

    def test_a_path_reaches_names_with_dots(self):
        settings = Settings.in_memory({"hooks": {"plugins": {"a.b": {"timeout": 5}}}})

        assert settings.get(("hooks", "plugins", "a.b", "timeout")) == 5
        assert settings.get("hooks.plugins.a.b.timeout") is None
        assert settings.origin(("hooks", "plugins", "a.b")) == IN_MEMORY

    def test_what_is_returned_can_be_changed_without_effect(self):
        given_ = {"packages": ["a"]}
        settings = Settings.in_memory(given_)

        settings.get("packages").append("b")
        settings.get_str_list("packages").append("c")
        given_["packages"].append("d")

        assert settings.get("packages") == ["a"]

    def test_typed_values_are_returned(self):
        settings = Settings.in_memory({"n": 5, "f": 0.5, "b": False, "s": "x", "l": ["a"], "o": {"k": 1}, "e": []})

        assert settings.get_number("n", 1.0) == 5
        assert settings.get_number("f", 1.0, minimum=0.5) == 0.5
        assert settings.get_bool("b", default=True) is False
        assert settings.get_str("s", None) == "x"
        assert settings.get_str_list("l") == ["a"]
        assert settings.get_str_list("e", ["d"]) == []
        assert settings.get_object("o") == {"k": 1}
        assert settings.problems == []

    def test_defaults_are_returned_where_nothing_is_set(self):
        settings = Settings.in_memory()

        assert settings.get_number("hooks.timeout", 30.0) == 30.0
        assert settings.get_number("x", None) is None
        assert settings.get_bool("x", default=True) is True
        assert settings.get_str("x", "d") == "d"
        assert settings.get_str_list("x", ["d"]) == ["d"]
        assert settings.get_object("x") == {}
        assert settings.problems == []

    @pytest.mark.parametrize(
        "case",
        [
            ("get_number", "5", 'a number, not "5"'),
            ("get_number", True, "a number, not true"),
            ("get_number", 10**400, "a number, not 1000"),
            ("get_bool", 1, "true or false, not 1"),
            ("get_bool", "true", 'true or false, not "true"'),
            ("get_str", 5, "a string, not 5"),
            ("get_str_list", "a", 'a list of strings, not "a"'),
            ("get_str_list", ["a", 1], 'a list of strings, not ["a", 1]'),
        ],
    )
    def test_wrong_type_is_a_problem_and_the_default(self, home, project, write, case):
        method, value, wanted = case
        write({"hooks": {"x": value}})
        settings = Settings.load(project, home, trust=True)
        default = ["default"]

        assert getattr(settings, method)("hooks.x", default) == default
        (problem,) = settings.problems
        assert problem.startswith(f"Setting 'hooks.x' must be {wanted}")
        assert problem.endswith(f"({home / 'settings.json'}:1); it is ignored.")

    def test_an_object_on_the_way_that_is_none_is_a_problem(self):
        settings = Settings.in_memory({"hooks": 5})

        assert settings.get_number("hooks.timeout", 30.0) == 30.0
        assert settings.get_object("hooks") == {}
        assert settings.problems == ["Setting 'hooks' must be an object, not 5 (memory); it is ignored."]

    def test_a_number_below_the_minimum_is_a_problem(self):
        settings = Settings.in_memory({"t": -1})

        assert settings.get_number("t", 30.0, minimum=0) == 30.0
        assert settings.problems == ["Setting 't' must be a number of at least 0, not -1 (memory); it is ignored."]

    def test_a_problem_is_reported_once(self):
        settings = Settings.in_memory({"t": "x"})

        for _ in range(3):
            settings.get_number("t", 1.0)

        assert len(settings.problems) == 1

    def test_names_with_dots_are_quoted_in_problems(self):
        settings = Settings.in_memory({"plugins": {"a.b": {"on": 1}}})

        settings.get_bool(("plugins", "a.b", "on"), default=False)

        assert "'plugins.\"a.b\".on'" in settings.problems[0]

    def test_long_values_are_cut_in_problems(self):
        settings = Settings.in_memory({"t": "x" * 1000})

        settings.get_number("t", 1)

        assert len(settings.problems[0]) < 150


class TestUnusableFiles:
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (
                '{"a": 1,\n  "b" 2}',
                ":2:7: Expecting ':' delimiter; none of its settings is used",
            ),
            ('{"a": 1} // why', ":1:10: Extra data; none of its settings is used"),
            ("[1]", ": must contain a JSON object, not [1]; none of its settings is used"),
            ('"text"', ': must contain a JSON object, not "text"; none of its settings is used'),
            ("null", ": must contain a JSON object, not null; none of its settings is used"),
            ('{"a": NaN}', ": cannot be read: NaN is not JSON; none of its settings is used"),
        ],
    )
    def test_what_is_wrong_is_reported_and_the_other_file_counts(self, home, project, write, text, message):
        write(text, {"theme": "light"})

        settings = Settings.load(project, home, trust=True)

        assert settings.problems == [f"{home / 'settings.json'}{message} (see pi help settings)."]
        assert settings.get("theme") == "light"
        assert settings.get("a") is None

    def test_both_files_may_be_wrong(self, home, project, write):
        write("{", "[")

        assert len(Settings.load(project, home, trust=True).problems) == 2

    @pytest.mark.parametrize(
        ("text", "keys"),
        [
            ('{"a": {"b": 1}, }', ["a", "a.b", "a.c"]),
            ('[{"a": 1}]', ["a", "a.b", "a.c"]),
            ('{"x": 1', ["a", "a.b", "a.c", "d"]),
            ('{"x": {"y": 1}', ["a", "a.b", "a.c", "d"]),
            ('{"x": "', ["a", "a.b", "a.c", "d"]),
            ('{"x": 1,}', []),
            ('{"x": 1} }', []),
            ("[]", []),
            ('{"a": 1}', []),
            ("", []),
        ],
    )
    def test_an_unusable_file_is_reported_for_each_key_that_it_may_set(self, home, project, write, text, keys):
        write(text, {"x": 2})

        settings = Settings.load(project, home, trust=True)

        assert [key for key in ("a", "a.b", "a.c", "d") if settings.unread(key)] == keys
        assert all(
            settings.unread(key) + "; none of its settings is used (see pi help settings)." == settings.problems[0]
            for key in keys
        )

    def test_one_that_cannot_be_read_may_set_anything(self, home, project, write):
        write(None, {"a": {"b": 1}, "c": 2})
        (home / "settings.json").mkdir()

        settings = Settings.load(project, home, trust=True)

        assert settings.unread("anything") == f"{home / 'settings.json'}: cannot be read: it is a directory"
        assert settings.unread("a") == settings.unread("a.x") == settings.unread("anything")
        assert settings.unread("a.b") is settings.unread("c") is None

    @pytest.mark.parametrize("content", [b"", b"  \n", b"\xef\xbb\xbf"])
    def test_an_empty_file_sets_nothing(self, home, project, content):
        (home / "settings.json").write_bytes(content)

        assert Settings.load(project, home, trust=True).problems == []

    def test_a_byte_order_mark_is_no_problem(self, home, project):
        (home / "settings.json").write_bytes(b'\xef\xbb\xbf{"theme": "dark"}')

        assert Settings.load(project, home, trust=True).get("theme") == "dark"

    @pytest.mark.parametrize("content", [b'{"a": "\xff"}', b"\xff\xfe{\x00}\x00", b"\x00", b"[" * 100_000, b"1" * 5000])
    def test_garbage_is_reported(self, home, project, content):
        (home / "settings.json").write_bytes(content)

        (problem,) = Settings.load(project, home, trust=True).problems

        assert problem.startswith(str(home / "settings.json"))
        assert len(problem) < 400

    @pytest.mark.parametrize("depth", [100, 300, 500, 900])
    @pytest.mark.parametrize(("left", "right"), [("[", "]"), ('{"a":', "}")])
    def test_deep_nesting_is_reported(self, home, write, depth, left, right):
        write(left * depth + "1" + right * depth)

        (problem,) = Settings.load(home, home, trust=True).problems

        assert "nested too deeply" in problem or "recursion" in problem

    def test_a_directory_is_reported(self, home, project):
        (home / "settings.json").mkdir()

        (problem,) = Settings.load(project, home, trust=True).problems

        assert "it is a directory" in problem

    @pytest.mark.skipif(sys.platform == "win32", reason="no pipes with names")
    def test_a_pipe_is_not_waited_for(self, home, project):
        os.mkfifo(home / "settings.json")

        (problem,) = Settings.load(project, home, trust=True).problems

        assert "not a regular file" in problem

    @pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may read everything")
    def test_an_unreadable_file_is_reported(self, home, project, write):
        write({"a": 1})
        (home / "settings.json").chmod(0)

        (problem,) = Settings.load(project, home, trust=True).problems

        assert "Permission denied" in problem

    def test_a_link_to_itself_is_reported(self, home, project):
        (home / "settings.json").symlink_to(home / "settings.json")

        (problem,) = Settings.load(project, home, trust=True).problems

        assert "cannot be read" in problem

    def test_a_folder_that_is_a_file_has_no_settings(self, tmp_path):
        (tmp_path / ".pi").write_text("x")

        assert Settings.load(tmp_path, tmp_path / ".pi", trust=True).problems == []

    def test_impossible_paths_are_reported(self, tmp_path):
        assert len(Settings.load("a\0b", tmp_path, trust=True).problems) == 1

    @given(st.binary(max_size=40) | st.text(max_size=40).map(lambda text: text.encode("utf-8", "replace")))
    def test_no_content_raises(self, tmp_path_factory, content):
        folder = tmp_path_factory.mktemp("agent")
        (folder / "settings.json").write_bytes(content)

        settings = Settings.load(folder, folder)

        assert isinstance(settings.get("a", ""), object)
        assert len(settings.problems) <= 1
