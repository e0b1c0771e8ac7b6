"""What files of servers mean, whatever they hold."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_mcp.approvals import Approvals
from pi_mcp.config import load_servers, project_files, read_servers
from pi_mcp.offer import Exposures
from pi_mcp.values import MissingVariable, describe_entry, expand

if TYPE_CHECKING:
    from pathlib import Path

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(
    "command args env cwd url headers oauth type timeout enabled disabled exposure toolExposure start parallel".split()
)


def read(servers: Any, scope: Any = "user") -> Any:
    return read_servers(json.dumps({"mcpServers": servers}, indent=2), "mcp.json", scope)


@given(st.dictionaries(st.text(max_size=6), JSON | st.dictionaries(KEYS, JSON, max_size=5), max_size=4))
def test_any_file_is_read_and_each_entry_is_a_server_or_a_reported_problem(servers: dict[str, Any]) -> None:
    found = read(servers)

    assert len(found.servers) + len(found.problems) + len(found.overrides) >= len(servers)


@given(st.text(max_size=40))
def test_any_text_in_place_of_a_file_is_at_most_a_problem(text: str) -> None:
    found = read_servers(text, "mcp.json", "user")

    assert found.servers == {} or not found.problems


@given(JSON, st.sampled_from(["env", "headers", "oauth", "args"]))
def test_no_message_has_the_value_of_a_key_that_may_hold_secrets(value: Any, key: str) -> None:
    found = read({"a": {"command": "x", key: [{"s": "sk-very-secret"}, value]}})

    assert "sk-very-secret" not in " ".join([*found.problems, repr(found.servers)])


def test_the_other_spellings_mean_the_same() -> None:
    text = '{"servers": {"tide": {"transport": "stdio", "command": "tides", "disabled": true}}}'

    (server,) = read_servers(text, "mcp.json", "user").servers.values()

    assert (server.transport, server.config["command"], server.enabled) == ("stdio", "tides", False)


def test_a_bad_entry_is_reported_with_its_line_and_the_others_are_used() -> None:
    found = read({"good": {"command": "x"}, "bad": {"command": ["x"]}})

    assert list(found.servers) == ["good"]
    (problem,) = found.problems
    assert problem.startswith("mcp.json:6: the MCP server 'bad' is not used: command is [\"x\"]; it must be a string")


def test_broken_json_is_reported_with_its_line() -> None:
    (problem,) = read_servers('{"mcpServers": {\n  "a": {,}}}', "mcp.json", "user").problems

    assert problem.startswith("mcp.json:2:")


def test_a_byte_order_mark_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "mcp.json").write_bytes(b'\xef\xbb\xbf{"mcpServers": {"a": {"command": "x"}}}')

    assert list(load_servers(tmp_path, tmp_path / "none", trusted=False).servers) == ["a"]


def project(tmp_path: Path, low: dict[str, Any], high: dict[str, Any], user: dict[str, Any] | None = None) -> Any:
    (tmp_path / ".pi").mkdir()
    for file, servers in zip(project_files(tmp_path), (low, high), strict=True):
        file.write_text(json.dumps({"mcpServers": servers}))
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "mcp.json").write_text(json.dumps({"mcpServers": user or {}}))
    return lambda *, trusted: load_servers(tmp_path / "agent", tmp_path, trusted=trusted)


def test_files_of_a_project_are_read_only_when_it_is_trusted(tmp_path: Path) -> None:
    load = project(tmp_path, {"low": {"command": "l"}}, {"high": {"command": "h"}}, {"own": {"command": "o"}})

    assert list(load(trusted=False).servers) == ["own"]
    assert list(load(trusted=True).servers) == ["own", "low", "high"]


def test_a_projects_entry_replaces_the_users_and_its_own_folder_has_the_last_word(tmp_path: Path) -> None:
    load = project(tmp_path, {"a": {"command": "low"}}, {"a": {"command": "high"}}, {"a": {"command": "own"}})

    assert load(trusted=True).servers["a"].config == {"command": "high"}


def test_an_entry_without_a_program_only_switches_another_one(tmp_path: Path) -> None:
    load = project(tmp_path, {}, {"a": {"enabled": False, "exposure": "direct"}}, {"a": {"command": "own"}})

    server = load(trusted=True).servers["a"]

    assert (server.enabled, server.exposure, server.scope) == (False, "direct", "user")


SHOWN = st.sampled_from(["direct", "deferred", "code", "hidden"])
EXPOSED = st.just("auto") | SHOWN
SWITCHES = st.fixed_dictionaries(
    {},
    optional={
        "enabled": st.booleans(),
        "disabled": st.booleans(),
        "exposure": EXPOSED,
        "toolExposure": st.dictionaries(st.sampled_from(["read", "delete_all", "delete_*", "*", "*_all"]), SHOWN),
    },
)


@given(own=SWITCHES, first=SWITCHES, second=SWITCHES)
def test_a_project_never_enables_a_server_of_the_user_nor_shows_a_hidden_tool(
    tmp_path_factory: Any, own: dict[str, Any], first: dict[str, Any], second: dict[str, Any]
) -> None:
    load = project(tmp_path_factory.mktemp("p"), {"a": first}, {"a": second}, {"a": {"command": "own", **own}})

    alone, both = load(trusted=False).servers["a"], load(trusted=True).servers["a"]

    assert alone.enabled or not both.enabled
    exposures = [Exposures(100_000, lambda: False, lambda: False) for _ in range(2)]
    for each, server in zip(exposures, (alone, both), strict=True):
        each.decide({"a": (server, [])})
    for tool in ("read", "delete_one", "delete_all"):
        hidden = [each.of(server, tool) == "hidden" for each, server in zip(exposures, (alone, both), strict=True)]
        assert hidden[1] or not hidden[0] or tool in own.get("toolExposure", {})


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "!x"},
        {"command": "x", "args": ["a", "!touch y"]},
        {"command": "x", "cwd": "!pwd"},
        {"command": "x", "env": {"A": "!touch y"}},
        {"url": "!x"},
        {"url": "https://a.example", "headers": {"A": "!touch y"}},
        {"url": "https://a.example", "oauth": {"clientSecret": "!touch y"}},
    ],
    ids=str,
)
def test_only_the_users_own_file_may_run_commands_for_values(entry: dict[str, Any]) -> None:
    assert list(read({"a": entry}).servers) == ["a"]
    (problem,) = read({"a": entry}, "project").problems
    assert "is a value that runs a command (!...); only your own file may have one" in problem


def test_the_question_about_a_server_shows_everything_that_is_approved() -> None:
    entry = {
        "command": "node",
        "args": ["server.js", "a b"],
        "cwd": "..",
        "inheritEnv": True,
        "env": {"NODE_OPTIONS": "--require ./evil.js", "KEY": "${ANTHROPIC_API_KEY}", "X": "a\x1b[2J\nb"},
    }
    remote = {"url": "https://a.example/${ZONE:-eu}", "headers": {"Authorization": "Bearer ${OPENAI_API_KEY}"}}

    assert describe_entry(entry).splitlines() == [
        "node server.js 'a b'",
        "in the folder ..",
        "with NODE_OPTIONS=--require ./evil.js",
        "with KEY=${ANTHROPIC_API_KEY}",
        "with X=a\\x1b[2J b",
        "with ALL of your environment variables, keys included",
        "it is given the values of your variables ANTHROPIC_API_KEY",
    ]
    assert describe_entry(remote).splitlines() == [
        "https://a.example/${ZONE:-eu}",
        "with the header Authorization: Bearer ${OPENAI_API_KEY}",
        "it is given the values of your variables OPENAI_API_KEY, ZONE",
    ]


def test_names_that_would_give_tools_one_name_clash(tmp_path: Path) -> None:
    found = project(tmp_path, {}, {}, {"my-tides": {"command": "a"}, "my_tides": {"command": "b"}})(trusted=True)

    assert list(found.servers) == ["my-tides"]
    assert "'my_tides' is not used" in found.problems[0]


def test_a_project_cannot_declare_that_its_server_is_to_be_trusted() -> None:
    entry = {"a": {"command": "x", "trustAnnotations": True}}

    assert read(entry).servers["a"].trust_annotations
    assert not read(entry, "project").servers["a"].trust_annotations


@pytest.mark.parametrize(
    "oauth",
    [
        {"scope": 1},
        {"callbackPort": "80"},
        {"clientRegistration": "x"},
        {"clientRegistration": "cimd"},
        {"authServerMetadataUrl": "file:///x"},
    ],
)
def test_a_sign_in_that_makes_no_sense_is_a_problem(oauth: dict[str, Any]) -> None:
    (problem,) = read({"a": {"url": "https://a.example", "oauth": oauth}}).problems

    assert "oauth is a dict that does not fit; it must be an object with strings" in problem


def test_a_project_cannot_use_a_login_of_pi() -> None:
    entry = {"a": {"url": "https://a.example", "auth": "openai"}}

    assert list(read(entry).servers) == ["a"]
    assert "put the entry into your own file" in read(entry, "project").problems[0]


def test_an_approval_ends_with_a_change_of_the_entry(tmp_path: Path) -> None:
    before = read({"a": {"command": "x"}}, "project").servers["a"]
    after = read({"a": {"command": "y"}}, "project").servers["a"]
    approvals = Approvals(tmp_path, tmp_path / "here")
    approvals.add(before)

    assert approvals.covers(before)
    assert not approvals.covers(after)
    assert not Approvals(tmp_path, tmp_path / "there").covers(before)


@pytest.mark.parametrize("text", ["{", "[]", '{"/": 3}'])
def test_a_broken_file_of_approvals_approves_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "mcp-approvals.json").write_text(text)

    assert not Approvals(tmp_path, tmp_path).covers(read({"a": {"command": "x"}}, "project").servers["a"])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("${A}", "one"),
        ("x${A}y${B:-two}z", "xoneytwoz"),
        ("${EMPTY:-two}", "two"),
        ("${EMPTY}", ""),
        ("$A ${}", "$A ${}"),
        ("${NESTED}", "${A}"),
    ],
)
def test_variables_are_put_in_once(text: str, value: str) -> None:
    assert expand(text, {"A": "one", "EMPTY": "", "NESTED": "${A}"}) == value


def test_a_missing_variable_is_named() -> None:
    with pytest.raises(MissingVariable, match="'NOWHERE' is not set"):
        expand("${NOWHERE}", {})
