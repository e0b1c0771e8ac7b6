"""The model layer alone, without agent or session; see ``docs/models.md``."""

from pi_core.models.ai import *  # noqa: F403 - the public names of one module
from pi_core.models.ai import __all__  # noqa: F401 - likewise
