"""What the tests of ``pi`` and ``ctx`` share: a session of the scripted model with functions as ``activate``."""

from __future__ import annotations

import pytest


@pytest.fixture
async def activated(session_of):
    """Start a session whose plugins are these functions, and return it; the plugins are inline-2, inline-3 ..."""

    async def start(*factories, **options):
        session = session_of(extension_factories=factories, **options)
        await session.start()
        return session

    return start


@pytest.fixture
def problems(recorder):
    """What plugins were blamed for so far."""
    return lambda: [event.error for event in recorder.of("extension_error")]
