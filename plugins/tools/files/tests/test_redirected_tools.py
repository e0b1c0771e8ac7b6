"""Tools whose files and commands a plugin redirects with the service ``ToolOperations``."""

from __future__ import annotations

import pytest

import pi_tools
from pi_hookspecs import hookimpl
from pi_testing import FakeWorkspace, text, tool_call


class Redirecting:
    def __init__(self, service):
        self.service = service

    @hookimpl
    def register_services(self):
        return [self.service]


class Broken:
    def files(self, ctx):
        raise RuntimeError("the container is gone")

    def commands(self, ctx):
        return object()


class OnlyReads(FakeWorkspace):
    def files(self, ctx):
        return self if ctx.tool_name == "read" else None

    def commands(self, ctx):
        return None


class Unsaved:
    """The operations of ``read`` and nothing else, for whichever tool is asked about."""

    def files(self, ctx):
        return self

    def commands(self, ctx):
        return None

    async def access(self, path):
        """Any file can be read."""

    async def read_file(self, path):
        return b"unsaved"


@pytest.fixture
def workspace():
    return FakeWorkspace()


@pytest.fixture
def other():
    return OnlyReads()


@pytest.fixture
def services(workspace):
    return [workspace]


@pytest.fixture
def pi_plugins(services):
    return {"tools": pi_tools, **{f"redirecting-{at}": Redirecting(each) for at, each in enumerate(services)}}


@pytest.fixture
def result_of(pi_session, script):
    async def call(name, **arguments):
        script.turn(tool_call(name, **arguments)).turn(text("Done."))
        await pi_session.prompt("go")
        return script.requests[-1].tool_results[-1]

    return call


async def test_a_file_is_written_and_read_in_the_other_place(result_of, workspace, tmp_path):
    await result_of("write", path="a.txt", content="one\n")
    read = await result_of("read", path="a.txt")

    assert read.text == "one\n"
    assert workspace.contents == {f"{tmp_path}/a.txt": b"one\n"}
    assert not (tmp_path / "a.txt").exists()


async def test_a_command_runs_in_the_other_place(result_of, workspace, tmp_path):
    workspace.answer = "built", 2
    done = await result_of("bash", command="make")

    assert done.text == "built\n\nCommand exited with code 2"
    assert workspace.commands_run == [("make", str(tmp_path))]


async def test_a_command_of_the_user_runs_there_too(pi_session, workspace):
    workspace.answer = "there", 0

    assert (await pi_session.execute_bash("ls")).output == "there"


async def test_operations_that_are_given_with_a_command_come_first(pi_session):
    result = await pi_session.execute_bash("echo here", operations=pi_tools.LocalBashOperations())

    assert result.output == "here\n"


@pytest.mark.parametrize("services", [[Broken()]])
async def test_a_provider_that_raises_makes_the_call_fail(result_of, tmp_path):
    refused = await result_of("write", path="a.txt", content="x")

    assert refused.is_error
    assert "'redirecting-0' failed" in refused.text
    assert "the container is gone" in refused.text
    assert not (tmp_path / "a.txt").exists()


@pytest.mark.parametrize("services", [[Broken()]])
async def test_an_answer_without_the_methods_makes_the_call_fail(result_of, tmp_path):
    refused = await result_of("bash", command="touch made")

    assert "lacks exec" in refused.text
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("services", [[OnlyReads()]])
async def test_none_leaves_a_tool_on_this_machine(result_of, services, tmp_path):
    services[0].contents[f"{tmp_path}/a.txt"] = b"unsaved"
    await result_of("write", path="a.txt", content="saved")
    read = await result_of("read", path="a.txt")

    assert read.text == "unsaved"
    assert (tmp_path / "a.txt").read_text() == "saved"


@pytest.mark.parametrize("services", [[Unsaved()]])
async def test_the_operations_of_one_tool_alone_are_enough_for_it(result_of, tmp_path):
    read = await result_of("read", path="a.txt")
    refused = await result_of("write", path="a.txt", content="x")

    assert read.text == "unsaved"
    assert "'redirecting-0' returned" in refused.text
    assert "It must have all methods of WriteOperations" in refused.text


async def test_the_later_provider_is_asked_first_and_may_leave_the_call_to_the_earlier(
    pi_session, pi_host, result_of, workspace, other, tmp_path
):
    pi_host.add(Redirecting(other), "editor")
    other.contents[f"{tmp_path}/a.txt"] = b"of the editor"
    await result_of("write", path="a.txt", content="of the container")

    assert (await result_of("read", path="a.txt")).text == "of the editor"
    assert workspace.contents == {f"{tmp_path}/a.txt": b"of the container"}


@pytest.mark.pi(tools=["grep"])
async def test_json_with_blanks_and_without_an_end_of_each_file_is_read(result_of, workspace, tmp_path):
    workspace.contents.update({f"{tmp_path}/a.txt": b"one\n", f"{tmp_path}/b.txt": b"none\n"})

    found = await result_of("grep", pattern="one", path=str(tmp_path))

    assert found.text == "a.txt:1: one\nb.txt:1: none"


async def test_without_a_provider_ctx_has_no_operations(tmp_path):
    from pi_core import PluginHost, Settings

    host = PluginHost(Settings.in_memory({}, agent_dir=tmp_path), installed=False)
    assert "ToolOperations" not in host.service_kinds

    host.add(Redirecting(FakeWorkspace()), "late")
    assert "ToolOperations" in host.service_kinds

    host.remove("late")
    assert "ToolOperations" not in host.service_kinds
