"""Trusts the projects in one folder, and leaves the decision about others open."""

from pathlib import Path

from pi_hookspecs import ProjectTrustResult, hookimpl


@hookimpl
def project_trust(event):
    if Path(event.cwd).parent.name == "my-own-work":
        return ProjectTrustResult(trusted="yes")
    return None


# Test

from pi_core import ProjectTrust, ask_for_trust


async def test_example(pi_host, tmp_path):
    project = tmp_path / "my-own-work" / "tides"
    (project / ".pi").mkdir(parents=True)
    (project / ".pi" / "settings.json").write_text("{}")

    decided = await ask_for_trust(pi_host, ProjectTrust.given(project, is_trusted=False))

    assert decided.is_trusted
