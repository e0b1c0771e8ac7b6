"""Operations of another place: every tool works where they lead."""

from __future__ import annotations

import errno

import pytest

import pi_tools
from pi_hookspecs import Aborted


class Elsewhere:
    """Files in a dict, commands that are only named."""

    def __init__(self):
        self.files = {"/w/a.txt": b"one\ntwo\n"}
        self.commands = []

    async def access(self, path):
        if path not in self.files:
            raise FileNotFoundError(errno.ENOENT, "gone", path)

    async def read_file(self, path):
        return self.files[path]

    async def write_file(self, path, content):
        self.files[path] = content

    async def mkdir(self, path):
        pass

    async def exec(self, command, cwd, *, on_data, signal, timeout, env):  # noqa: ASYNC109 - the protocol's
        self.commands.append((command, cwd, timeout, env["PI_MODEL"]))
        on_data(b"from ")
        on_data(b"elsewhere\n")
        if command == "late":
            raise TimeoutError
        if command == "stopped":
            raise Aborted("x")
        return None if command == "unknown" else 0

    async def is_directory(self, path):
        if path not in ("/w", "/w/a.txt"):
            raise FileNotFoundError(errno.ENOENT, "gone", path)
        return path == "/w"

    async def exists(self, path):
        return path == "/w"

    async def entries(self, path):
        return [("b", True), ("a.txt", False)]

    async def glob(self, pattern, path, limit, signal):
        return [f"{pattern} in {path}", "sub/"][:limit]

    async def search(self, arguments, cwd, signal):
        assert arguments[-1] in ("/w", "/w/a.txt")
        line = b'{"type":"match","data":{"path":{"text":"/w/a.txt"},"lines":{"text":"two\\n"},"line_number":2}}\n'
        for part in (line[:40], line[40:], b'{"type":"end","data":{}}\n'):
            yield part


@pytest.fixture
def elsewhere():
    return Elsewhere()


@pytest.fixture
def run(call, elsewhere):
    tools = pi_tools.create_all_tools(
        "/w",
        pi_tools.ToolsOptions(
            read=pi_tools.ReadOptions(operations=elsewhere),
            bash=pi_tools.BashOptions(operations=elsewhere),
            edit=pi_tools.EditOptions(operations=elsewhere),
            write=pi_tools.WriteOptions(operations=elsewhere),
            grep=pi_tools.GrepOptions(operations=elsewhere),
            find=pi_tools.FindOptions(operations=elsewhere),
            ls=pi_tools.LsOptions(operations=elsewhere),
        ),
    )

    async def run(name, **arguments):
        return (await call(name, tool=tools[name], **arguments)).content[0].text

    return run


async def test_files(run, elsewhere):
    assert await run("read", path="a.txt", offset=2) == "two\n"
    assert await run("write", path="b.txt", content="new") == "Successfully wrote 3 bytes to b.txt"
    await run("edit", path="a.txt", oldText="two", newText="2")

    assert elsewhere.files == {"/w/a.txt": b"one\n2\n", "/w/b.txt": b"new"}


async def test_commands(run, elsewhere):
    assert await run("bash", command="ls") == "from elsewhere\n"
    assert await run("bash", command="unknown") == "from elsewhere\n"
    assert await run("bash", command="late", timeout=5) == "from elsewhere\n\n\nCommand timed out after 5 seconds"
    assert await run("bash", command="stopped") == "from elsewhere\n\n\nCommand aborted"
    assert elsewhere.commands[0] == ("ls", "/w", None, "rules")


async def test_searches(run):
    assert await run("grep", pattern="t") == "a.txt:2: two"
    assert await run("find", pattern="*") == "* in /w\nsub/"
    assert await run("ls", path=".") == "a.txt\nb/"


async def test_errors_read_the_same(run):
    for name, arguments, message in (
        ("read", {"path": "x"}, "ENOENT: no such file or directory, access '/w/x'"),
        ("edit", {"path": "x", "oldText": "a", "newText": "b"}, "Could not edit file: x. Error code: ENOENT."),
        ("ls", {"path": "x"}, "Path not found: /w/x"),
        ("grep", {"pattern": "a", "path": "x"}, "Path not found: /w/x"),
        ("find", {"pattern": "a", "path": "x"}, "Path not found: /w/x"),
        ("ls", {"path": "a.txt"}, "Not a directory: /w/a.txt"),
    ):
        with pytest.raises(pi_tools.ToolFailure) as caught:
            await run(name, **arguments)
        assert str(caught.value) == message


def test_what_this_machine_uses_has_the_same_shape():
    assert isinstance(pi_tools.LocalBashOperations(), pi_tools.BashOperations)
    assert isinstance(pi_tools.LocalEditOperations(), pi_tools.EditOperations)
    assert isinstance(pi_tools.LocalWriteOperations(), pi_tools.WriteOperations)
    assert isinstance(pi_tools.LocalGrepOperations(), pi_tools.GrepOperations)
    assert isinstance(pi_tools.LocalFindOperations(), pi_tools.FindOperations)
