"""Hides a token from the programs that pi starts, and tells scripts which environment to use."""

from pi_hookspecs import hookimpl


@hookimpl
def child_environment(event):
    if event.purpose == "key":  # a password store may need what the model's commands must not see
        return None
    return {"GITHUB_TOKEN": None, "DEPLOY_TARGET": "staging"}


# Test

import os
import sys
from unittest.mock import patch


async def test_example(pi_session):
    code = "import os; print(os.environ.get('GITHUB_TOKEN'), os.environ.get('DEPLOY_TARGET'))"
    with patch.dict(os.environ, {"GITHUB_TOKEN": "ghp_secret"}):
        done = await pi_session.ctx.exec(sys.executable, ["-c", code])

    assert done.stdout == "None staging\n"
