"""The contract that holds for every tool, over the two of skills."""

from __future__ import annotations

import pytest

import pi_skills
from pi_testing import ToolContract, arguments

pytestmark = pytest.mark.pi(plugins={"skills": pi_skills}, settings={"enableSkillCreation": True}, trusted=True)


class TestLoadSkill(ToolContract):
    tool = "load_skill"
    works = arguments(name="review")
    fails = arguments(name="nobody-wrote-this")

    def prepare(self, folder):
        file = folder / ".pi" / "skills" / "review" / "SKILL.md"
        file.parent.mkdir(parents=True)
        file.write_text("---\nname: review\ndescription: Review code.\n---\nLook.\n")


class TestCreateSkill(ToolContract):
    tool = "create_skill"
    works = arguments(name="deploy", description="Deploy the site.", body="Run it.")
    fails = arguments(name="Deploy It", description="Deploy the site.", body="Run it.")
    answers = (True,)
