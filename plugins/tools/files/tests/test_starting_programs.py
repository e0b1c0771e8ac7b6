"""What plugins decide before the tools start a program: ``child_environment`` and ``Launcher``."""

from __future__ import annotations

import pytest
from attrs import evolve

import pi_tools
from pi_hookspecs import PiError, hookimpl
from pi_testing import FakeLauncher, FakeWorkspace, text, tool_call


class Variables:
    def __init__(self):
        self.asked = []

    @hookimpl
    def child_environment(self, event):
        self.asked.append((event.purpose, event.command))
        if "crash" in event.command:
            raise RuntimeError("no idea")
        return {"SECRET": None, "STAGE": "test"}


class Second:
    @hookimpl
    def child_environment(self, event):
        return {"STAGE": f"{event.env['STAGE']}ed", "SEEN": str("SECRET" in event.env)}


class Starting:
    def __init__(self, service):
        self.service = service

    @hookimpl
    def register_services(self):
        return [self.service]


@pytest.fixture
def variables():
    return Variables()


@pytest.fixture
def launcher():
    return FakeLauncher()


@pytest.fixture
def services(launcher):
    return {"launcher": Starting(launcher)}


@pytest.fixture
def pi_plugins(variables, services):
    return {"tools": pi_tools, "variables": variables, "second": Second(), **services}


@pytest.fixture
def result_of(pi_session, script, monkeypatch):
    monkeypatch.setenv("SECRET", "s3cret")

    async def call(name, **arguments):
        script.turn(tool_call(name, **arguments)).turn(text("Done."))
        await pi_session.prompt("go")
        return script.requests[-1].tool_results[-1]

    return call


async def test_a_command_of_the_model_gets_the_environment_of_the_plugins(result_of, variables):
    done = await result_of("bash", command='echo "$SECRET-$STAGE-$SEEN"')

    assert done.text == "-tested-False\n"
    assert variables.asked == [("bash", 'echo "$SECRET-$STAGE-$SEEN"')]


async def test_a_command_of_the_user_gets_it_too(pi_session, variables):
    assert (await pi_session.execute_bash("echo $STAGE")).output == "tested\n"
    assert variables.asked == [("user_bash", "echo $STAGE")]


async def test_a_program_of_a_plugin_gets_it_too(pi_session, variables):
    done = await pi_session.ctx.exec("sh", ["-c", "echo $STAGE $OWN"], env={"OWN": "mine"})

    assert done.stdout == "tested mine\n"
    assert variables.asked == [("exec", "sh -c 'echo $STAGE $OWN'")]


async def test_a_plugin_that_fails_keeps_the_command_from_starting(result_of, tmp_path):
    refused = await result_of("bash", command="touch crash")

    assert refused.is_error
    assert "'variables'" in refused.text
    assert [*tmp_path.iterdir()] == []


async def test_an_impossible_variable_keeps_the_program_from_starting(pi_session, variables):
    pi_session.hooks.add("wrong", "child_environment", lambda event: {"A=B": "1"})

    with pytest.raises(PiError, match="'wrong'"):
        await pi_session.ctx.exec("true")


@pytest.mark.pi(tools=["bash", "grep"])
async def test_the_launcher_is_asked_for_each_command_and_search(result_of, launcher, tmp_path):
    (tmp_path / "a.txt").write_text("one\n")

    await result_of("bash", command="true")
    found = await result_of("grep", pattern="one")

    assert found.text == "a.txt:1: one"
    bash, search = launcher.requests
    assert (bash.purpose, bash.argv[-1], bash.cwd, bash.env["STAGE"]) == ("bash", "true", str(tmp_path), "tested")
    assert bash.call_id is not None
    assert (search.purpose, search.argv[-1], search.cwd) == ("search", ".", str(tmp_path))


async def test_the_launcher_is_asked_for_commands_of_the_user_and_programs_of_plugins(pi_session, launcher):
    await pi_session.execute_bash("true")
    await pi_session.ctx.exec("true")

    assert [(each.purpose, each.call_id) for each in launcher.requests] == [("user_bash", None), ("exec", None)]


async def test_a_command_starts_as_the_launcher_specifies(result_of, launcher):
    launcher.answer = lambda request: evolve(request, argv=("env", "WRAPPED=1", *request.argv), cwd="/")

    assert (await result_of("bash", command="echo $WRAPPED; pwd")).text == "1\n/\n"


@pytest.mark.parametrize("error", [PiError("not in here"), RuntimeError("not in here")])
async def test_a_launcher_that_raises_refuses(result_of, launcher, tmp_path, error):
    def refuse(request):
        raise error

    launcher.answer = refuse
    refused = await result_of("bash", command="touch made")

    assert refused.is_error
    assert "not in here" in refused.text
    assert not (tmp_path / "made").exists()


async def test_a_launcher_that_returns_something_else_refuses(pi_session, launcher):
    launcher.answer = lambda request: None

    with pytest.raises(PiError, match="'launcher' failed to prepare the start of 'true'"):
        await pi_session.ctx.exec("true")


@pytest.mark.parametrize("wrong", [{"argv": ("echo", 1)}, {"cwd": None}, {"env": None}, {"env": {"A": 1}}])
async def test_a_launcher_that_makes_a_wrong_request_is_named(pi_session, launcher, wrong):
    launcher.answer = lambda request: evolve(request, **wrong)

    with pytest.raises(PiError, match=r"'launcher' failed to prepare the start of 'true'.*TypeError: (argv|cwd|env) "):
        await pi_session.ctx.exec("true")


async def test_a_program_that_the_launcher_invents_is_reported(result_of, launcher):
    launcher.answer = lambda request: evolve(request, argv=("no-such-sandbox", *request.argv))

    assert "'no-such-sandbox' is not on PATH" in (await result_of("bash", command="true")).text


class Wrapping:
    async def prepare(self, request, ctx):
        return evolve(request, argv=("env", *request.argv))


async def test_launchers_are_asked_in_load_order(pi_session, pi_host, launcher):
    pi_host.add(Starting(Wrapping()), "wrapping")
    late = FakeLauncher()
    pi_host.add(Starting(late), "late")

    await pi_session.ctx.exec("true")

    assert (launcher.requests[0].argv, late.requests[0].argv) == (("true",), ("env", "true"))


@pytest.mark.parametrize("services", [{"elsewhere": Starting(FakeWorkspace())}])
async def test_a_command_in_another_place_gets_the_environment_and_no_launcher(result_of, variables):
    await result_of("bash", command="make")

    assert variables.asked == [("bash", "make")]
