"""Secrets planted everywhere in a conversation: none in any file, all of them with the model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import pi_redact
from pi_core import SessionManager, create_agent_session
from pi_testing import text, tool_call

pytestmark = pytest.mark.pi(plugins={"redact": pi_redact}, stored=True, tools=["lookup"])


@pytest.fixture
def keys(made_up):
    return made_up(3)


def stored(session):
    return session.session_file.read_text(encoding="utf-8")


async def test_no_key_is_stored_wherever_it_was(pi_session, script, keys, private_key):
    parts = [*keys.values(), private_key(3)]
    hidden = [*(key.removeprefix("AccountKey=") for key in keys.values()), *private_key(3).splitlines()[1:-1]]
    nested = {"list": [{"key": parts[18]}, parts[19]], "more": "\n".join(parts[7:14])}  # the tool returns them, too
    script.turn(text("I use " + " ".join(parts[14:18])), tool_call("lookup", nested=nested))
    script.turn(text(" ".join(parts[20:])))

    await pi_session.prompt("My keys: " + " ".join(parts[:7]))
    await pi_session.set_session_name(f"about {parts[0]}")
    pi_session.session_manager.append_custom_entry("notes", {"deep": [{"x": parts[1]}]})

    content = stored(pi_session)
    assert [key for key in hidden if key in content] == []
    assert content.count("[secret:") >= len(parts)
    assert all(json.loads(line) for line in content.splitlines())


async def test_the_model_still_works_with_them(pi_session, script, keys):
    script.turn(text("ok")).turn(text("ok"))

    await pi_session.prompt(f"use {keys['github']}")
    await pi_session.prompt("again")

    assert keys["github"] in str(script.requests[1].messages)


async def test_an_entry_is_searched_once_however_many_sessions_there_were(pi_session, script):
    def searched():
        return sum(each.calls for each in pi_session.hooks.counters() if each.hook == "session_before_append")

    for _ in range(2):
        script.turn(text("ok"))
        await pi_session.prompt("hi")
        await pi_session.new_session()
    script.turn(text("ok"))
    await pi_session.prompt("hi")
    before = searched()
    pi_session.session_manager.append_custom_entry("notes", {"a": "b"})

    assert searched() - before == 1


async def test_values_that_pi_knows_are_replaced_whatever_they_look_like(pi_session, script, monkeypatch):
    monkeypatch.setenv("ACME_TOKEN", "a plain sentence")
    script.turn(text("it is a plain sentence"))

    await pi_session.prompt("what is it?")

    assert "a plain sentence" not in stored(pi_session)
    assert "[secret:acme_token:" in stored(pi_session)


async def test_names_of_arguments_and_of_tools_are_searched_too(pi_session, script, keys):
    script.turn(tool_call(keys["github"], **{keys["npm"]: "x", "list": [{keys["aws"]: 1}]})).turn(text("ok"))

    await pi_session.prompt("go")

    content = stored(pi_session)
    assert [name for name in ("github", "npm", "aws") if keys[name] in content] == []
    assert content.count("[secret:") >= 4  # the call, and the error that names the tool


@pytest.mark.pi(entry_points=["tools"], tools=["read", "bash"])
@pytest.mark.parametrize("call", [{"path": ".env.local"}, {"command": "cat -n .env.local"}])
async def test_secrets_of_an_environment_file_are_known_once_it_was_read(pi_session, script, call):
    lines = ["export SHOP_PASSWORD=open sesame please", "SESSION_TOKEN='mellon'", "PORT=80808080", "NAME=production"]
    (Path(pi_session.cwd) / ".env.local").write_text("\n".join(lines))
    script.turn(tool_call("read" if "path" in call else "bash", **call))
    script.turn(text("I say open sesame please, then mellon on 80808080 in production"))

    await pi_session.prompt("go")

    content = stored(pi_session)
    assert "open sesame please" not in content
    assert "on 80808080 in production" in content


@pytest.mark.pi(settings={"redact": {"enabled": False}})
async def test_redaction_can_be_switched_off(pi_session, script, keys):
    script.turn(text("ok"))

    await pi_session.prompt(keys["npm"])

    assert keys["npm"] in stored(pi_session)


@pytest.mark.pi(settings={"redact": {"provider": True}})
async def test_the_provider_gets_marks_and_tools_get_the_secrets_back(pi_session, script, fake_tools, keys):
    key = keys["openai"]
    script.turn(lambda request: [tool_call("lookup", header=f"Bearer {mark_in(request)}")]).turn(text("ok"))

    await pi_session.prompt(f"use {key}")

    assert key not in json.dumps(script.requests[0].payload)
    assert key not in json.dumps(script.requests[1].payload)
    assert fake_tools["lookup"].calls[0] == {"header": f"Bearer {key}"}
    assert key not in stored(pi_session)


def mark_in(request):
    content = json.dumps(request.payload)
    begin = content.index("[secret:")
    return content[begin : content.index("]", begin) + 1]


NESTED = "(" * 20_000 + ")" * 20_000


@pytest.mark.pi(settings={"redact": {"patterns": ["(a+)+$", "TICKET-[0-9]+", "(", "x{99999999999999}", NESTED]}})
async def test_own_patterns_count_and_those_that_cannot_be_used_are_named(pi_session, script, fake_ui):
    script.turn(text("ok"))

    await pi_session.prompt("see TICKET-1234")

    assert "TICKET-1234" not in stored(pi_session)
    notices = [notice.message for notice in fake_ui.notices]
    assert any("'(a+)+$' is not used: it takes more than 50 ms" in notice for notice in notices)
    assert any("'(' is not used: it is not a regular expression" in notice for notice in notices)
    assert any("the repetition number is too large" in notice for notice in notices)
    assert any("its groups are nested too deeply" in notice for notice in notices)


@pytest.mark.pi(settings={"redact": {"patterns": ["("], "strict": True}})
async def test_a_strict_session_refuses_wrong_patterns(pi_session, script):
    await pi_session.prompt("hello")

    assert script.requests == []
    assert "redact.patterns" in pi_session.messages[-1].error_message


async def test_the_status_names_sources_and_no_values(pi_session, fake_ui, monkeypatch):
    monkeypatch.setenv("ACME_TOKEN", "s3cret-value")

    await pi_session.prompt("/redact")

    assert "ACME_TOKEN" in fake_ui.notices[-1].message
    assert "s3cret-value" not in fake_ui.notices[-1].message


@pytest.fixture
def run(pi_host):
    subcommand = pi_host.find("register_subcommands", "redact").thing
    return lambda *arguments: subcommand.run([*map(str, arguments)], pi_host)


def test_stored_files_are_scanned_and_cleaned_with_a_backup(run, tmp_path, capsys, keys):
    file = tmp_path / "s.jsonl"
    before = (
        json.dumps({"type": "message", "id": "1", "message": {"content": f"x {keys['github']}"}})
        + "\nno json "
        + keys["npm"]
        + "\n"
    )
    file.write_text(before)

    found = run("scan", file), capsys.readouterr().out
    cleaned = run("clean", file), capsys.readouterr().out
    again = run("scan", file)

    assert found[0] == 1
    assert f"{file}:1: [secret:github:" in found[1]
    assert cleaned[0] == 0
    assert "2 secrets replaced in 1 files" in cleaned[1]
    assert again == 0
    assert json.loads(file.read_text().splitlines()[0])["id"] == "1"
    assert (tmp_path / "s.jsonl.before-redact").read_text() == before


def test_all_sessions_are_those_of_the_folder_that_was_chosen_too(run, pi_host, tmp_path, capsys, keys):
    pi_host.settings.set("sessionDir", str(tmp_path / "chosen"))
    files = [pi_host.settings.agent_dir / "sessions" / "work" / "a.jsonl", tmp_path / "chosen" / "b.jsonl"]
    for file in files:
        file.parent.mkdir(parents=True)
        file.write_text(keys["github"] + "\n")

    assert run("scan") == 1
    output = capsys.readouterr().out
    assert [line.partition(":")[0] for line in output.splitlines()[:2]] == sorted(map(str, files))
    assert output.endswith("2 secrets found in 2 files\n")


def test_lines_end_at_line_ends_only_and_keep_them(run, tmp_path, capsys, keys):
    file = tmp_path / "s.jsonl"
    file.write_bytes(f'{{"a":"\u2028"}}\r\n{{"b":"{keys["github"]}"}}\r\n'.encode())

    assert run("clean", file) == 0
    assert f"{file}:2: [secret:github:" in capsys.readouterr().out
    assert file.read_bytes().startswith('{"a":"\u2028"}\r\n{"b":"[secret:'.encode())
    assert file.read_bytes().endswith(b'"}\r\n')


async def test_sessions_of_a_database_are_scanned_and_the_command_that_cleans_them_is_named(
    run, pi_host, script, tmp_path, capsys, keys
):
    pi_host.add(pytest.importorskip("pi_session_sqlite"), "session-sqlite")
    pi_host.settings.set("sessionStore", "sqlite")
    pi_host.settings.set("redact.enabled", value=False)
    pi_host.add(script, "script")
    script.turn(text("ok"))
    manager = SessionManager.create(tmp_path, host=pi_host)
    async with create_agent_session(
        host=pi_host, settings=pi_host.settings, model=script.model, tools=[], cwd=tmp_path, session_manager=manager
    ) as session:
        await session.prompt(f"use {keys['github']}")
    pi_host.settings.set("redact.enabled", value=True)

    found = run("scan"), capsys.readouterr().out
    assert found[0] == 1
    assert f"{manager.reference}:" in found[1]
    assert "1 secrets found in 0 files and 1 sessions without a file" in found[1]
    assert run("scan", manager.reference[:8]) == 1
    assert keys["github"] not in capsys.readouterr().out
    assert run("clean", manager.reference) == 2
    assert "pi sessions convert --to jsonl --remove SESSION" in capsys.readouterr().err


def test_a_file_that_is_not_there_is_named(run, tmp_path, capsys):
    assert run("scan", tmp_path / "none.jsonl") == 2
    assert "none.jsonl: No such file" in capsys.readouterr().err
