"""What the plugin adds, and what finding it out costs."""

from __future__ import annotations

import subprocess
import sys

import pi_provider_offline
from pi_hookspecs import Provider


def test_one_provider_answers_for_the_api_id():
    (provider,) = pi_provider_offline.register_providers()

    assert isinstance(provider, Provider)
    assert provider.api == "offline-rules"


def test_model_needs_no_key_and_is_never_chosen_unasked():
    (info,) = pi_provider_offline.register_models()

    assert (info.id, info.api, info.keyless, info.default_model) == ("offline", "offline-rules", True, None)
    assert info.key_variables == ()


def test_the_model_introduces_itself():
    (info,) = pi_provider_offline.register_models()
    (model,) = info.models

    assert model.reference == "offline/rules"
    assert model.name == "Offline rules (rule-based stand-in, not a language model)"
    assert (model.api, model.input, model.context_window) == ("offline-rules", ("text",), 128_000)
    assert "not a language model" in info.name


def test_import_and_registration_load_neither_grammar_nor_stream():
    program = """
import sys, pi_provider_offline
assert not [name for name in sys.modules if name.startswith("pi_provider_offline.")]
pi_provider_offline.register_providers(), pi_provider_offline.register_models()
loaded = {name for name in sys.modules if name.startswith(("pi_provider_offline.", "pi_hookspecs."))}
light = {f"pi_hookspecs.{name}" for name in ("_markers", "deferred", "lazy", "models", "values")}
print(*sorted(loaded - light - {"pi_provider_offline.provider"}))
"""

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.split() == []
