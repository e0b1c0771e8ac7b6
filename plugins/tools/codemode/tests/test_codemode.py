"""A script calls tools as the model would, and only what it prints and returns reaches the model."""

from __future__ import annotations

import pytest

import pi_codemode
import pi_tools
from pi_codemode.script_process import can_confine
from pi_hookspecs import ImageContent, Tool, ToolResult, hookimpl
from pi_testing import text

pytestmark = pytest.mark.pi(
    plugins={"codemode": pi_codemode, "tools": pi_tools}, settings={"codemode": {"enabled": True}}
)


async def test_a_script_reads_files_in_parallel_and_returns_what_is_needed(ran, pi_session):
    for name in "abc":
        (pi_session.cwd / f"{name}.txt").write_text(f"{name} 1\nTODO {name}\n")

    result = await ran(
        'texts = await gather(*(read(path=f"{n}.txt") for n in "abc"))\n'
        'print(len(texts), "files")\n'
        '[line for t in texts for line in t.splitlines() if "TODO" in line]\n'
    )

    assert result.text == '3 files\n["TODO a", "TODO b", "TODO c"]'
    assert [call["state"] for call in result.details["calls"]] == ["done"] * 3
    assert result.details["value"] == ["TODO a", "TODO b", "TODO c"]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("1 + 1", "2"),
        ("'a' * 3", "aaa"),
        ("x = 1", "(no output)"),
        ("None", "(no output)"),
        ("{'b': {1, 2} & {2}}", "{'b': {2}}"),
        ("read(path='a.txt')", "hello"),
        ("await read('a.txt')", "hello"),
        ("(await tools['read']('a.txt')).upper()", "HELLO"),
        ("import json\njson.dumps([1])", "[1]"),
        ("import ctypes, decimal, hashlib, lzma, sqlite3, ssl, zoneinfo\n'imported'", "imported"),
        ("print('seen')\nexit()", "seen"),
        ("", "(no output)"),
        ("async def f():\n    return await read('a.txt')\nawait f()", "hello"),
        ("help(read)", "await read(path: str, offset: float = None, limit: float = None)"),
        ("mcp", "NameError: name 'mcp' is not defined"),
        ("await codemode('1')", "NameError: name 'codemode' is not defined"),
        ("try:\n    await read('none.txt')\nexcept ToolError as error:\n    print('no file')", "no file"),
        ("raise SystemExit('stopped')", "stopped"),
    ],
)
async def test_what_a_script_returns(ran, pi_session, code, expected):
    (pi_session.cwd / "a.txt").write_text("hello")

    result = await ran(code)

    assert expected in result.text
    assert result.is_error is (expected.startswith("NameError") or expected == "stopped")


async def test_a_mistake_is_a_traceback_of_the_script_alone(ran):
    result = await ran("def f():\n    return 1 / 0\n\nf()\n")

    assert result.is_error
    rows = [row.strip() for row in result.text.splitlines() if not {*row.strip()} <= {*"~^"}]
    assert rows == [
        "Traceback (most recent call last):",
        'File "<script>", line 4, in <module>',
        "f()",
        'File "<script>", line 2, in f',
        "return 1 / 0",
        "ZeroDivisionError: division by zero",
    ]


async def test_invalid_python_is_explained(ran):
    result = await ran("for x in\n")

    assert result.is_error
    assert "SyntaxError" in result.text
    assert "script_host" not in result.text


async def test_a_failed_call_that_is_not_caught_fails_the_script_with_the_tools_words(ran):
    result = await ran("await read('none.txt')")

    assert result.is_error
    assert "ToolError" in result.text
    assert "none.txt" in result.text


@pytest.mark.parametrize(
    "code",
    [
        "open('a.txt').read()",
        "open('made.txt', 'w')",
        "import os; os.listdir('.')",
        "import subprocess; subprocess.run(['/bin/ls'])",
        "import socket; socket.create_connection(('127.0.0.1', 1))",
        "import os; os.kill(os.getppid(), 9)",
        "import attrs",
    ],
)
@pytest.mark.skipif(not can_confine(), reason="this kernel cannot confine programs")
async def test_a_script_reaches_nothing_but_tools(ran, pi_session, code):
    (pi_session.cwd / "a.txt").write_text("hello")

    result = await ran(code)

    assert result.is_error
    assert "Error" in result.text
    assert [each.name for each in pi_session.cwd.iterdir()] == ["a.txt"]


async def test_a_script_sees_no_keys(ran, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-0123456789")
    monkeypatch.setenv("PLAIN", "1")

    assert (await ran("import os\nsorted(set(os.environ) - {'HOME', 'PATH', 'TMPDIR', 'TZ'})")).details["value"] in (
        [],
        ["LANG"],
        ["LC_CTYPE"],
        ["LANG", "LC_CTYPE"],
    )


@pytest.mark.parametrize(
    "code",
    [
        "while True: pass",
        pytest.param("import asyncio\nawait asyncio.sleep(60)", marks=pytest.mark.slow),
        pytest.param("import time; time.sleep(60)", marks=pytest.mark.slow),
    ],
)
async def test_a_script_that_hangs_ends_with_its_deadline(ran, code):
    result = await ran(f"print('begun', flush=True)\n{code}", timeout=3)

    assert result.is_error
    assert result.text == "begun\nScript timed out after 3 seconds"


async def test_tasks_threads_and_children_of_a_script_end_with_it(ran):
    code = (
        "import asyncio, os, threading, time\n"
        "asyncio.ensure_future(asyncio.sleep(60))\n"
        "threading.Thread(target=time.sleep, args=(60,)).start()\n"
        "try:\n    child = os.fork()\nexcept PermissionError:\n    child = 1\n"
        "if not child:\n    time.sleep(60)\n"
        "child"
    )

    result = await ran(code)

    assert not result.is_error
    assert result.details["value"] > 0  # the text may begin with what newer Pythons warn of


async def test_a_script_that_prints_without_end_fails(ran):
    result = await ran("while True:\n    print('x' * 100000)")

    assert result.is_error
    assert "prints more than 16 MB" in result.text
    assert "Full output: " in result.text


async def test_a_script_that_takes_all_memory_fails_alone(ran):
    assert "MemoryError" in (await ran("x = bytearray(8 << 30)")).text


async def test_long_output_is_cut_and_all_of_it_is_in_a_file(ran):
    result = await ran("for n in range(3000):\n    print(n)")

    assert result.text.startswith("1000\n1001\n")
    assert result.text.endswith(f"[Showing lines 1001-3000 of 3000. Full output: {result.details['fullOutputPath']}]")
    with open(result.details["fullOutputPath"]) as file:  # noqa: PTH123 - a test
        assert file.read().splitlines()[0] == "0"


class Guard:
    @hookimpl
    def tool_call(self, event):
        from pi_hookspecs import ToolCallResult

        self.seen = [*getattr(self, "seen", []), (event.tool_call_id, event.tool_name)]
        return ToolCallResult(block=True, reason="not today") if event.tool_name == "bash" else None


guard = Guard()


@pytest.mark.pi(plugins={"codemode": pi_codemode, "tools": pi_tools, "guard": guard})
async def test_a_guard_judges_each_call_of_a_script(ran):
    guard.seen = []

    result = await ran(
        "n = 0\nfor _ in range(5):\n    try:\n        await bash('true')\n    except ToolError as error:\n"
        "        n += str(error) == 'not today'\nn"
    )

    assert result.text == "5"
    outer = guard.seen[0][0]
    assert guard.seen[1:] == [(f"{outer}/{n}", "bash") for n in range(1, 6)]


@pytest.mark.slow
async def test_a_loop_of_calls_ends(ran):
    result = await ran(
        "n = 0\nwhile True:\n    try:\n        await read('none.txt')\n    except ToolError as error:\n"
        "        if 'can make' in str(error):\n            break\n        n += 1\nn"
    )

    assert result.text == "1000"


def tool_of(name, result, **fields):
    async def execute(_call_id, _params, _signal, _on_update, _ctx):
        return result

    return Tool(name=name, description="A tool. With words.", parameters={"type": "object"}, execute=execute, **fields)


class Tools:
    @hookimpl
    def register_tools(self):
        return [
            tool_of(
                "mcp__my-server__list-all",
                ToolResult.text("[1]", details={"structured": [{"id": 1}]}),
                exposure="code",
                output_schema={"type": "array"},
            ),
            tool_of("picture", ToolResult(content=(ImageContent(data="aGk=", mime_type="image/png"),))),
            tool_of("class", ToolResult.text("a keyword")),
            tool_of("secret", ToolResult.text("no"), exposure="hidden"),
        ]


@pytest.mark.pi(plugins={"codemode": pi_codemode, "tools": pi_tools, "more": Tools()})
async def test_tools_that_only_scripts_can_call_are_listed_in_the_prompt_and_return_data(ran, script):
    result = await ran("rows = await mcp.my_server.list_all()\nrows[0]['id']")

    assert result.text == "1"
    assert "- mcp.my_server.list_all(): A tool." in script.requests[0].system_prompt
    assert "mcp__my-server__list-all" not in script.requests[0].tools
    assert "secret" not in script.requests[0].system_prompt


@pytest.mark.pi(plugins={"codemode": pi_codemode, "tools": pi_tools, "more": Tools()})
async def test_images_are_passed_on_and_names_that_are_keywords_get_an_underscore(ran):
    result = await ran("print(await class_())\nawait picture()")

    assert result.text == "a keyword"
    assert result.content[1:] == (ImageContent(data="aGk=", mime_type="image/png"),)


@pytest.mark.pi(settings={"codemode": {"enabled": True, "preview": True}})
@pytest.mark.parametrize("allowed", [True, False])
async def test_the_user_sees_the_plan_of_calls_first(ran, fake_ui, pi_session, allowed):
    (pi_session.cwd / "a.txt").write_text("hello")
    fake_ui.answers(allowed)

    result = await ran("for n in 'ab':\n    await read(path='a.txt')\nawait tools['ls'](path='.')")

    assert ("refused" in result.text) is not allowed
    question = fake_ui.asked[-1]
    assert "line 2: repeatedly read(path='a.txt')\nline 3: tools['ls'](path='.')" in question.text


@pytest.mark.pi(settings={"codemode": {"enabled": False}})
async def test_without_the_setting_nothing_is_offered(pi_session, script):
    script.turn(text("Hello."))
    await pi_session.prompt("hi")

    assert "codemode" not in script.requests[0].tools


@pytest.mark.pi(settings={"codemode": {"enabled": False}, "defaultTools": ["+codemode"]})
async def test_the_selection_of_tools_offers_it_as_the_original_does(pi_session, script):
    script.turn(text("Hello."))
    await pi_session.prompt("hi")

    assert {"codemode", "read", "bash", "edit", "write"} <= {*script.requests[0].tools}
    assert "defaultTools" in pi_codemode.pi_when["settings"]  # else no session would load the plugin for it
