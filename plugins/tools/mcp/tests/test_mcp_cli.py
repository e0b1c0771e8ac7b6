"""``pi mcp``: what it prints, what it writes, and its exit codes."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import pi_mcp
from pi_hookspecs import UserError
from pi_mcp.cli import run_mcp
from pi_mcp.states import tools_counted

pytestmark = [pytest.mark.pi(plugins={"mcp": pi_mcp}), pytest.mark.slow]  # each starts programs that take seconds
FAULT_SERVER = Path(__file__).parent / "servers" / "fault_server.py"


@pytest.fixture
def run(pi_host: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        code = run_mcp(arguments, pi_host)
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def file(pi_host: Any) -> Path:
    return Path(pi_host.settings.agent_dir, "mcp.json")


def servers(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_text())["mcpServers"]
    return found


def test_a_server_is_added_with_its_arguments_and_the_rest_of_the_file_stays(run, file) -> None:
    file.write_text('{"note": 1, "mcpServers": {"old": {"command": "o"}}}')

    code, out, _ = run("add", "tide", "--env", "A=b=c", "--cwd", "x", "--", "tides", "-v", "--", "port")

    assert (code, "tide" in out) == (0, True)
    assert servers(file) == {
        "old": {"command": "o"},
        "tide": {"command": "tides", "args": ["-v", "--", "port"], "cwd": "x", "env": {"A": "b=c"}},
    }
    assert json.loads(file.read_text())["note"] == 1


def test_a_token_of_a_server_at_a_url_stays_in_its_variable(run, file) -> None:
    code, *_ = run("add", "far", "--url", "https://tides.example/mcp", "--bearer-token-env-var", "TIDES", "-l")
    local = json.loads(Path(".pi/mcp.json").read_text())["mcpServers"]

    assert code == 0
    assert local == {"far": {"url": "https://tides.example/mcp", "headers": {"Authorization": "Bearer ${TIDES}"}}}
    assert not file.exists()


def test_sign_in_and_exposure_of_a_server_can_be_given_as_options(run, file) -> None:
    code, *_ = run(
        *("add", "far", "--url", "https://tides.example/mcp", "--exposure", "deferred", "--description", "Tides"),
        *("--oauth-client-id", "me", "--oauth-client-secret", "${SECRET}", "--oauth-callback-port", "8765"),
        *("--oauth-client-name", "pi", "--oauth-client-registration", "dcr"),
    )

    assert code == 0
    assert servers(file)["far"] == {
        "url": "https://tides.example/mcp",
        "exposure": "deferred",
        "description": "Tides",
        "oauth": {
            "clientId": "me",
            "clientSecret": "${SECRET}",
            "callbackPort": 8765,
            "clientName": "pi",
            "clientRegistration": "dcr",
        },
    }


@pytest.mark.parametrize(
    "wrong",
    [
        ["add", "a", "--url", "https://x.example", "--oauth-callback-port", "much"],
        ["add", "a", "--url", "https://x.example", "--oauth-callback-port", "70000"],
        ["add", "a", "--url", "https://x.example", "--oauth-client-registration", "never"],
        ["add", "a", "--exposure", "all", "--", "x"],
        ["add", "a"],
        ["add", "a b", "--", "x"],
        ["nonsense"],
        [],
        ["test", "a", "t", "[1]"],
        ["test", "a", "t", "{"],
    ],
)
def test_wrong_use_ends_with_2_and_writes_nothing(run, file, wrong: list[str]) -> None:
    code, out, err = run(*wrong)

    assert (code, out) == (2, "")
    assert err
    assert not file.exists()


def test_a_name_is_not_taken_twice_and_an_unknown_one_not_removed(run, file) -> None:
    run("add", "tide", "--", "tides")

    with pytest.raises(UserError, match="already has a server 'tide'"):
        run("add", "tide", "--", "other")
    with pytest.raises(UserError, match="has no server 'wind'"):
        run("remove", "wind")
    assert run("remove", "tide")[0] == 0
    assert servers(file) == {}


def test_a_broken_file_is_not_written_over(run, file) -> None:
    file.write_text('{"mcpServers": {')

    with pytest.raises(UserError, match=r"mcp.json:1:\d+: .*Nothing was changed"):
        run("add", "tide", "--", "tides")
    assert file.read_text() == '{"mcpServers": {'


def test_a_broken_file_is_named_by_every_verb(run, file) -> None:
    file.write_text('{"mcpServers": {')

    code, out, err = run("list")

    assert (code, out) == (1, "")
    assert f"{file}:1:" in err
    with pytest.raises(UserError, match=r"mcp\.json:1:\d+: .*none of its servers is used"):
        run("test", "tide")


def test_a_folder_in_the_place_of_the_file_is_named(run, file) -> None:
    file.mkdir(parents=True)

    assert run("list") == (1, "", f"{file}: it is not a file; move it away\n")
    with pytest.raises(UserError, match=r"mcp\.json cannot be read: .*Nothing was changed"):
        run("add", "tide", "--", "tides")


def test_servers_of_a_project_that_is_not_trusted_are_not_read_but_their_file_is_named(run, file) -> None:
    Path(".mcp.json").write_text("broken, and not read")

    code, out, err = run("list")

    assert (code, out) == (0, "")
    assert ".mcp.json is not used, because the project is not trusted. Run pi trust" in err
    with pytest.raises(UserError, match=r"configured: none\.\n.*is not trusted"):
        run("test", "tide")


def test_a_disabled_server_is_reported_as_disabled(run, file) -> None:
    file.write_text('{"mcpServers": {"tide": {"command": "tides", "enabled": false}}}')

    with pytest.raises(UserError, match=r"'tide' is disabled in .*mcp\.json:1"):
        run("test", "tide")


@pytest.mark.pi(plugins={"mcp": pi_mcp}, trusted=True)
def test_a_server_of_a_project_without_an_approval_says_how_to_approve_it(run) -> None:
    Path(".mcp.json").write_text('{"mcpServers": {"tide": {"command": "tides"}}}')

    with pytest.raises(UserError, match=r"'tide' is not approved\. Start pi in a terminal"):
        run("test", "tide")


def test_the_server_whose_tools_cannot_be_listed_is_named(run, file) -> None:
    file.write_text(json.dumps({"mcpServers": {"gone": {"command": sys.executable, "args": ["-c", "exit(7)"]}}}))

    assert run("tools", "gone") == (1, "", "gone: it ended with code 7\n")


def test_numbers_of_tools_are_words() -> None:
    assert [tools_counted(*each) for each in ((1,), (0,), (2,), (40, 1979))] == [
        "1 tool",
        "0 tools",
        "2 tools",
        "40 of 2019 tools",
    ]


def test_list_and_test_connect_and_say_what_failed(run, file) -> None:
    entries = {
        "fault": {"command": sys.executable, "args": [str(FAULT_SERVER)]},
        "gone": {"command": sys.executable, "args": [str(FAULT_SERVER), "exit"]},
        "off": {"command": "x", "enabled": False},
    }
    file.write_text(json.dumps({"mcpServers": entries}))

    code, out, _ = run("list", "--json")
    listed = json.loads(out)
    rows = {row.pop("name"): row for row in listed["servers"]}
    failed = run("test", "fault", "fail")

    common = {"scope": "global", "source": str(file), "enabled": True, "exposure": "auto", "leftOut": 0}
    assert (code, listed["errors"]) == (1, [])
    assert (len(rows["fault"]["tools"]), "echo" in rows["fault"].pop("tools")) == (22, True)
    program = f"{sys.executable} {FAULT_SERVER}"
    assert rows["fault"] == {"state": "connected", "transport": program, **common}
    gone = {"state": "failed", "tools": [], "error": "it ended with code 7", "transport": f"{program} exit"}
    assert rows["gone"] == {**gone, **common}
    assert (rows["off"]["state"], rows["off"]["enabled"]) == ("disabled", False)
    assert (failed[0], failed[1]) == (1, "it failed\n")


def test_the_listed_servers_show_no_secrets_and_errors_are_part_of_the_object(run, file) -> None:
    entries = {
        "web": {"url": "http://me:pass-word@127.0.0.1:9/mcp?api_key=key-word", "enabled": False},
        "tool": {"command": "t", "args": ["--token", "token-word"], "enabled": False},
        "bad": {"command": 1},
    }
    file.write_text(json.dumps({"mcpServers": entries}))

    code, out, err = run("list", "--json")

    listed = json.loads(out)
    assert (code, err, len(listed["errors"])) == (1, "", 1)
    assert not re.search("pass-word|key-word|token-word", out)
    assert listed["servers"][0]["transport"].startswith("http://127.0.0.1:9/mcp")


def test_a_disabled_server_is_used_again_after_enable(run, file) -> None:
    run("add", "tide", "--", "tides")

    run("disable", "tide")
    disabled = servers(file)["tide"]
    run("enable", "tide")

    assert disabled == {"command": "tides", "args": [], "enabled": False}
    assert servers(file)["tide"] == {"command": "tides", "args": []}


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return a home folder with one server of Claude Code, in a project that has another one."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    (home / ".claude.json").write_text('{"mcpServers": {"mine": {"command": "m"}}}')
    (tmp_path / ".mcp.json").write_text('{"mcpServers": {"theirs": {"command": "t", "args": ["\\u001b]0;X\\u0007"]}}}')
    return home


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that lets the user at a terminal give an answer."""

    def answer(text: str) -> None:
        typed = io.StringIO(text)
        typed.isatty = lambda: True  # type: ignore[method-assign]
        monkeypatch.setattr(sys, "stdin", typed)
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)

    return answer


def test_the_servers_of_an_untrusted_project_are_not_copied(run, file, home, answer) -> None:
    answer("yes\n")

    code, _, err = run("import", "claude")

    assert (code, list(servers(file))) == (0, ["mine"])
    assert ".mcp.json is not read, because this project is not trusted. Run pi trust first." in err


@pytest.mark.pi(plugins={"mcp": pi_mcp}, trusted=True)
def test_the_servers_of_a_trusted_project_are_copied_to_the_users_file_only_after_a_question(
    run, file, home, answer
) -> None:
    unasked = run("import", "claude")
    after_unasked = list(servers(file))
    answer("no\n")
    refused = run("import", "claude")
    after_no = list(servers(file))
    answer("yes\n")
    run("import", "claude")

    assert "there is no terminal to ask you" in unasked[2]
    assert (after_unasked, after_no, list(servers(file))) == (["mine"], ["mine"], ["mine", "theirs"])
    assert r"theirs: t \x1b]0;X\x07" in refused[2]
    assert "They then run in every folder. [y/N]" in refused[2]


def test_what_a_server_says_of_itself_does_not_reach_the_terminal_raw(run, file) -> None:
    entry = {"command": sys.executable, "args": [str(FAULT_SERVER), "hostile"]}
    file.write_text(json.dumps({"mcpServers": {"fault": entry}}))

    outputs = [run("tools", "fault"), run("tools", "fault", "--json"), run("test", "fault"), run("list")]

    assert [code for code, *_ in outputs] == [0, 0, 0, 0]
    assert {each for _, *texts in outputs for text in texts for each in text if not each.isprintable()} == {"\n"}
    assert r"\x1b]0;OWNED" in outputs[0][1]


@pytest.mark.pi(plugins={"mcp": pi_mcp}, trusted=True)
def test_servers_of_other_programs_are_copied_in_our_words(run, file, monkeypatch, tmp_path, answer) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    answer("y\n")
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "config.toml").write_text(
        '[mcp_servers.tide]\ncommand = "tides"\nargs = ["-v"]\n'
        '[mcp_servers.far]\nurl = "https://far.example"\nbearer_token_env_var = "FAR"\n'
    )
    (tmp_path / "opencode.json").write_text(
        '{"mcp": {"open": {"type": "local", "command": ["o", "p"], "environment": {"A": "b"}}, "tide": {"url": "x"}}}'
    )

    assert run("import", "codex")[0] == 0
    code, out, _ = run("import", "opencode")

    assert code == 0
    assert "tide: not added" in out
    assert servers(file) == {
        "tide": {"command": "tides", "args": ["-v"]},
        "far": {"url": "https://far.example", "headers": {"Authorization": "Bearer ${FAR}"}},
        "open": {"command": "o", "args": ["p"], "env": {"A": "b"}},
    }
    with pytest.raises(UserError, match="cursor has no servers here"):
        run("import", "cursor")


@pytest.mark.pi(plugins={"mcp": pi_mcp})
def test_variables_switches_and_tools_of_other_programs_mean_the_same_here(run, file, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name, content in (
        (
            ".gemini/settings.json",
            {
                "mcp": {"allowed": ["on", "also"], "excluded": ["also"]},
                "mcpServers": {
                    "on": {"command": "a", "args": ["$A/b"], "env": {"X": "$X", "Y": "${Y}"}, "includeTools": ["look"]},
                    "also": {"command": "b"},
                    "off": {"command": "c"},
                },
            },
        ),
        (".config/opencode/opencode.json", {"mcp": {"open": {"command": ["o"], "environment": {"PLAIN": "{env:P}"}}}}),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(json.dumps(content))

    run("import", "gemini")
    run("import", "opencode")

    assert servers(file) == {
        "on": {
            "command": "a",
            "args": ["${A}/b"],
            "env": {"X": "${X}", "Y": "${Y}"},
            "toolExposure": {"look": "direct", "*": "hidden"},
        },
        "also": {"command": "b", "enabled": False},
        "off": {"command": "c", "enabled": False},
        "open": {"command": "o", "args": [], "env": {"PLAIN": "${P}"}},
    }


@pytest.mark.pi(plugins={"mcp": pi_mcp})
def test_a_server_that_claude_code_has_for_one_folder_alone_is_named(run, file, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    of_folder = {str(Path.cwd()): {"mcpServers": {"here": {"command": "h"}}}}
    (tmp_path / ".claude.json").write_text(json.dumps({"mcpServers": {"all": {"command": "a"}}, "projects": of_folder}))

    _, out, err = run("import", "claude")

    lines = [each for each in f"{out}{err}".splitlines() if "it was for this folder alone" in each]
    assert [each.partition(":")[0] for each in lines] == ["here"]


def test_login_with_local_wants_a_server_of_the_project(run, file) -> None:
    file.write_text('{"mcpServers": {"web": {"url": "http://127.0.0.1:9/mcp"}}}')

    with pytest.raises(UserError, match=r"The project has no MCP server 'web'; it is in .*mcp\.json:1\. Leave out -l"):
        run("login", "-l", "web")
    assert run("login", "web", "--timeout", "soon")[0] == 2
    assert run("login", "web", "--timeout", "0")[0] == 2
