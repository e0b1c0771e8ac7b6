"""What holds for every test of the workspace."""

from __future__ import annotations

import os

from hypothesis import settings

# pytest names a test module after its path, so pi_core/tests/test_x.py becomes pi_core.tests.test_x, and without this
# line the folder pi_core would be imported as a package of that name and hide the real one.
import pi_core  # noqa: F401

# pytest accepts this only here; the tests of pi_testing run pytest inside pytest.
pytest_plugins = ("pytester",)

# A loaded machine must not fail an example for being slow, and CI must not fail on another example than last time.
settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")
