"""Commands of PowerShell, for the user's own rules: the language is not analysed, and each command is asked about.

A rule with a ``command`` applies to the parts of a script between separators, quoted or not: a part too many is one
more that a rule may deny. A rule can allow a script only if it is a single command without variables, blocks or other
code.
"""

from __future__ import annotations

import re

from pi_guardrails.findings import Finding

__all__ = ["findings_of_powershell"]

_WHY = "it runs PowerShell, which is not analysed"
_SEPARATORS = re.compile(r"[;|&(){}\n\r]+")
_CODE = re.compile(r"[^\w \t.,:/\\*?='\"+\-\[\]~]")
"""What a single command with plain arguments does not have."""


def findings_of_powershell(script: str) -> list[Finding]:
    """Return a finding for each part of the script, and one for the whole if it is more than one plain command."""
    parts = [" ".join(part.split()) for part in _SEPARATORS.split(script)]
    found = [Finding("ask", "inline-code", _WHY, command=part) for part in parts if part]
    if len(found) != 1 or _CODE.search(script.strip()):
        found.append(Finding("ask", "inline-code", _WHY))
    return found
