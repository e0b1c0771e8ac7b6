"""Tells the model which git branch is checked out; the text changes only when the branch does."""

from pi_hookspecs import PromptSection, SystemPromptResult, hookimpl


@hookimpl
def system_prompt(event, ctx):
    head = ctx.cwd / ".git" / "HEAD"
    if not head.exists():
        return None
    branch = head.read_text().strip().removeprefix("ref: refs/heads/")
    return SystemPromptResult(sections=[PromptSection(name="git", text=f"The branch is {branch}.", source=str(head))])


# Test

from pi_testing import text


async def test_example(pi_session, script, tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/tides\n")
    script.turn(text("Hello."))

    await pi_session.prompt("Hi")

    assert "The branch is tides." in script.requests[0].system_prompt
