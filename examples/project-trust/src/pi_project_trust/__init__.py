"""Trusts projects in the folders of the user's setting ``trustedFolders``, and refuses those in Downloads.

It leaves the decision about all other projects open, so pi asks as usual.
"""

from pathlib import Path

from pi_hookspecs import ProjectTrustEvent, ProjectTrustResult, StartContext, hookimpl


@hookimpl
def project_trust(event: ProjectTrustEvent, ctx: StartContext) -> ProjectTrustResult | None:
    project = Path(event.cwd)
    if "Downloads" in project.parts:
        return ProjectTrustResult(trusted="no")
    folders = [Path(folder).expanduser() for folder in ctx.settings.get_str_list("trustedFolders")]
    if any(project.is_relative_to(folder) for folder in folders):
        return ProjectTrustResult(trusted="yes")
    return None
