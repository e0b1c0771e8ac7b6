"""A language server, and its faults: none makes an edit fail, wait for long or more than once, or leaves a process."""

from __future__ import annotations

import asyncio
import time

import pytest

from pi_diagnostics.delta import Finding

pytestmark = [pytest.mark.slow, pytest.mark.pi(trusted=True)]

ERROR = "1:1 a bad line (fake E1)"


def process_of(log):
    return int(log.read_text().split()[0])


@pytest.mark.parametrize("faults", [(), ("pull",), ("noise",), ("parts",), ("stale",), ("nonsense",)])
async def test_only_new_errors_are_reported(edit, tmp_path, use_server, monkeypatch, faults):
    if "parts" in faults:  # the second may come late on a busy computer
        monkeypatch.setattr("pi_diagnostics.lsp.SETTLE", 2)
        monkeypatch.setattr("pi_diagnostics.lsp.SETTLE_UNVERSIONED", 2)
    use_server(*faults)
    (tmp_path / "a.txt").write_text("BAD\nWARN\ngood\n")

    result = await edit("a.txt", "good", "good\nBAD")

    assert result.endswith("\n[diagnostics] 1 new error in a.txt:\n4:1 a bad line (fake E1)")


async def test_the_server_is_started_once_through_the_launcher(result_of, edit, use_server, launcher, pi_session):
    log = use_server()

    assert ERROR in await result_of("write", path="a.txt", content="BAD\n")
    assert "2:1 a bad line" in await edit("a.txt", "BAD", "BAD\nBAD")
    assert ERROR in await result_of("write", path="b.txt", content="BAD\n")

    await pi_session.dispose()
    assert [request.purpose for request in launcher.requests] == ["lsp"]
    assert log.read_text().split()[1:] == [
        "initialize",
        "initialized",
        "textDocument/didOpen",
        *["textDocument/didChange", "textDocument/didSave"],
        *["textDocument/didClose", "textDocument/didOpen", "textDocument/didSave"],
        "shutdown",
    ]


async def test_the_server_ends_with_the_session(result_of, use_server, pi_session, is_gone):
    log = use_server()
    await result_of("write", path="a.txt", content="BAD\n")

    await pi_session.dispose()

    assert await is_gone(process_of(log))


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("crash", "it ended"),
        ("flood", "it sent more than the limit"),
        ("huge", "it sent more than the limit"),
        ("garbage", "it wrote something other than messages of the Language Server Protocol"),
        ("refuse", "it answered with the error 'no such folder'"),
    ],
)
async def test_a_server_with_faults_is_left_out_with_one_notice(
    result_of, use_server, fake_ui, launcher, fault, reason, is_gone
):
    log = use_server(fault)

    for name in ("a.txt", "b.txt"):
        result = await result_of("write", path=name, content="BAD\n")
        assert result == f"Successfully wrote 4 bytes to {name}"

    assert [each.message for each in fake_ui.notices] == [
        f"fake is left out of this session's diagnostics: {reason}. See /diagnostics."
    ]
    assert len(launcher.requests) == 1
    assert await is_gone(process_of(log))


async def test_a_server_that_hangs_is_ended(result_of, use_server, fake_ui, is_gone):
    log = use_server("hang", timeout=0.5)

    result = ""
    while "diagnostics" not in result and not fake_ui.notices:  # on a busy machine it is not ready at once
        result = await result_of("write", path=f"b{time.monotonic()}.txt", content="BAD\n")
    for _ in range(2):
        assert "diagnostics" not in await result_of("write", path="a.txt", content=f"BAD HANG {time.monotonic()}\n")

    assert [each.message for each in fake_ui.notices] == [
        "fake is left out of this session's diagnostics: it did not answer within 0.5 s. See /diagnostics."
    ]
    assert await is_gone(process_of(log))


async def test_a_server_that_never_gets_ready_is_ended(result_of, use_server, fake_ui, monkeypatch, is_gone):
    log = use_server("never-ready")
    monkeypatch.setattr("pi_diagnostics.runners.START_LIMIT", 0.2)

    assert "diagnostics" not in await result_of("write", path="a.txt", content="BAD\n")

    assert "it was not ready within 0.2 s" in fake_ui.notices[0].message
    assert not log.exists() or await is_gone(process_of(log))


async def test_edits_do_not_wait_twice_for_a_server_that_is_starting(
    result_of, use_server, fake_ui, pi_session, is_gone
):
    log = use_server("never-ready", timeout=0.2)
    while not log.exists() or "initialize" not in log.read_text():
        await result_of("write", path="a.txt", content=f"BAD {time.monotonic()}\n")

    await pi_session.prompt("/diagnostics")
    await pi_session.dispose()

    assert "\nfake: starting, " in fake_ui.notices[0].message
    assert len(fake_ui.notices) == 1
    assert await is_gone(process_of(log))


class Starting:
    """A runner that answers once its state is ``ready``."""

    state = "starting"

    async def errors(self, path, old, new, ctx):
        if self.state == "starting":
            await asyncio.Event().wait()
        return tuple([Finding(1, 1, each) for each in text.split()] for text in (old, new))

    async def stop(self, *, at_once=False):
        pass


async def test_errors_of_edits_during_the_start_are_reported_when_the_server_is_ready(
    edit, use_server, monkeypatch, tmp_path
):
    use_server(timeout=0.01)
    (tmp_path / "a.txt").write_text("one")
    runner = Starting()
    monkeypatch.setattr("pi_diagnostics.checks.runner_of", lambda _checker, _program: runner)

    assert "diagnostics" not in await edit("a.txt", "one", "one two")
    runner.state = "ready"

    assert (await edit("a.txt", "two", "two three")).endswith("2 new errors in a.txt:\n1:1 two ()\n1:1 three ()")


@pytest.mark.pi(trusted=False)
async def test_in_an_untrusted_project_it_is_not_started(result_of, use_server, launcher, fake_ui, pi_session):
    use_server()

    assert "diagnostics" not in await result_of("write", path="a.txt", content="BAD\n")
    await pi_session.prompt("/diagnostics")

    assert launcher.requests == []
    assert "Not used, because the project is not trusted (pi trust): fake" in fake_ui.notices[0].message
