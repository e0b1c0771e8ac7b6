"""Handles the user's command `!where` itself; all other commands run as usual."""

from pi_hookspecs import BashExecutionMessage, UserBashResult, hookimpl


@hookimpl
def user_bash(event):
    if event.command != "where":
        return None
    return UserBashResult(result=BashExecutionMessage(command=event.command, output=event.cwd, exit_code=0))


# Test


async def test_example(pi_session, tmp_path):
    result = await pi_session.execute_bash("where")

    assert result.output == str(tmp_path)
