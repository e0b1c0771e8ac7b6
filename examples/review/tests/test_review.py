"""A change goes in, findings at its lines come out, in the forms that people and CI services read."""

from __future__ import annotations

import io
import json
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import pytest

from pi_testing import text, tool_call, usage

pytestmark = pytest.mark.pi(entry_points=["tools"])

BAD = {"path": "./a.txt", "line": 99, "severity": "error", "title": "Off by\none", "body": "50% of: a,b\nare lost\x01"}
ELSEWHERE = {**BAD, "path": "other.txt"}
NOTE = {**BAD, "line": 1, "severity": "note", "title": "Odd"}


def answer(*findings):
    return text(json.dumps({"summary": "It adds a line.", "findings": findings}))


@pytest.fixture
def review(pi_host, script, git, monkeypatch, capsys):
    """Runs `pi review` in a repository whose `a.txt` has a changed second line."""
    git.init()
    git.commit("second", "a.txt", "one\ntwo\n")
    monkeypatch.chdir(git.folder)
    pi_host.add(script, "script")

    def run(*arguments, stdin=None):
        entered = SimpleNamespace(buffer=io.BytesIO((stdin or "").encode()), isatty=lambda: stdin is None)
        monkeypatch.setattr("sys.stdin", entered)
        subcommand = pi_host.find("register_subcommands", "review").thing
        code = subcommand.run(["--model", script.model.reference, *arguments], pi_host)
        return SimpleNamespace(code=code, **capsys.readouterr()._asdict())

    return run


def test_the_model_gets_numbered_lines_and_its_findings_are_moved_to_changed_ones(review, script):
    script.turn(answer(BAD, ELSEWHERE), usage(cost=0.25))

    done = review("HEAD~1..HEAD", "--format", "json")

    assert "     2 +two" in script.requests[0].user_text
    assert sorted(script.requests[0].tools) == ["find", "grep", "ls", "read"]
    result = json.loads(done.out)
    assert [(each["path"], each["line"], each["title"]) for each in result["findings"]] == [("a.txt", 2, "Off by one")]
    assert (result["dollars"], result["problem"]) == (0.25, None)
    assert "no such file: 'other.txt'" in done.err
    assert done.code == 1


@pytest.mark.parametrize(
    ("bar", "found", "code"),
    [("error", NOTE, 0), ("note", NOTE, 1), ("never", BAD, 0), ("warning", BAD, 1)],
)
def test_the_exit_code_depends_on_the_bar(review, script, bar, found, code):
    script.turn(answer(found))

    assert review("HEAD~1", "--fail-on", bar).code == code


def test_a_diff_on_standard_input_and_uncommitted_changes_are_reviewed(review, script, git):
    diff = git("diff", "HEAD~1", "HEAD") + "\n"
    (git.folder / "a.txt").write_text("one\ntwo\nthree\n")
    script.turn(answer()).turn(answer())

    assert "0 findings" in review(stdin=diff).out
    assert "0 findings" in review().out
    assert "+two" in script.requests[0].user_text
    assert "     3 +three" in script.requests[1].user_text


def test_nothing_is_asked_without_a_change(review, script):
    assert review("HEAD..HEAD").code == 0
    assert "nothing to review" in review(stdin="It is not a diff.").err
    assert not script.requests


def test_names_are_read_as_git_writes_them(review, script, git):
    git.commit("third", "näme b.txt", "--- x\n+++ y\n")
    git("rm", "--quiet", "a.txt")
    script.turn(answer({**BAD, "path": "näme b.txt", "line": 2}))

    done = review("HEAD~1", "--format", "github")

    assert done.out.startswith("::error file=näme b.txt,line=2,title=Off by one::50%25 of: a,b%0Aare lost")
    assert "File a.txt" in script.requests[0].user_text


def test_tools_read_the_repository_and_nothing_else(review, script, git):
    git("config", "http.extraheader", "token two")
    script.turn(
        tool_call("read", path="a.txt"),
        tool_call("read", path="../x"),
        tool_call("read", path=".git/config"),
        tool_call("grep", pattern="two"),
        tool_call("find", pattern="config*"),
    )
    script.turn(answer())

    review("HEAD~1")

    own, outside, inside, found, listed = script.requests[1].tool_results
    assert "two" in own.text
    assert outside.is_error
    assert inside.is_error
    assert "a.txt" in found.text
    assert "token" not in found.text
    assert ".git" not in listed.text


def test_a_limit_ends_the_review_and_keeps_what_was_found(review, script, git, monkeypatch):
    monkeypatch.setattr("pi_review.reviewer.PART", 60)
    git.commit("third", "b.txt", "three\n")
    script.turn(answer(BAD), usage(cost=1)).turn(tool_call("ls"), usage(cost=1)).turn(answer())

    done = review("HEAD~2", "--max-cost", "1.5", "--format", "json")

    assert done.code == 4
    assert "not complete" in done.err
    assert len(json.loads(done.out)["findings"]) == 1


def test_ci_services_get_their_forms(review, script, git):
    script.turn(answer(BAD, NOTE))
    names = ["sarif", "junit", "gitlab"]

    review("HEAD~1", *(word for name in names for word in ("--output", name, name)), "--fail-on", "error")

    sarif, junit, gitlab = ((git.folder / name).read_text() for name in names)
    (run,) = json.loads(sarif)["runs"]
    assert [each["level"] for each in run["results"]] == ["note", "error"]
    assert run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": "a.txt"}
    suite = ET.fromstring(junit)  # noqa: S314 - our own
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert sorted(case[0].tag for case in suite) == ["failure", "system-out"]
    issues = json.loads(gitlab)
    assert {each["severity"] for each in issues} == {"major", "info"}
    assert len({each["fingerprint"] for each in issues}) == 2


def test_a_range_that_git_does_not_know_is_named(review):
    with pytest.raises(Exception, match="'nowhere'"):
        review("nowhere")
