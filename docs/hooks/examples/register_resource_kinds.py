"""Adds checklists: Markdown files in the folders `checklists` of the user and the project, named after their file."""

from pathlib import PurePath

from pi_hookspecs import ResourceContent, ResourceKind, hookimpl


def read(file, text):
    items = [line.removeprefix("- ") for line in text.splitlines() if line.startswith("- ")]
    return ResourceContent(name=PurePath(file.path).stem, data={"items": items})


@hookimpl
def register_resource_kinds():
    return [ResourceKind("checklist", read=read, folder="checklists")]


# Test


async def test_example(pi_session):
    folder = pi_session.settings.agent_dir / "checklists"
    folder.mkdir()
    (folder / "release.md").write_text("- tag\n- tell everybody\n")

    found = await pi_session.resources.load("checklist")

    assert found.get("release").data == {"items": ["tag", "tell everybody"]}
