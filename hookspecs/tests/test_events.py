"""Every event of the contract has its class."""

from __future__ import annotations

import pi_hookspecs
from pi_testing import for_each

TYPES = {
    value.type: name
    for name in pi_hookspecs.__all__
    if isinstance(getattr(value := getattr(pi_hookspecs, name), "type", None), str)
}

STREAM = """start text_start text_delta text_end thinking_start thinking_delta thinking_end toolcall_start
    toolcall_delta toolcall_end done error""".split()
AGENT = """agent_start agent_end turn_start turn_end message_start message_update message_end tool_execution_start
    tool_execution_update tool_execution_end""".split()
SESSION = """compaction_start compaction_end auto_retry_start auto_retry_end agent_settled queue_update entry_appended
    session_info_changed thinking_level_changed summarization_retry_scheduled summarization_retry_attempt_start
    summarization_retry_finished bash_execution_update extension_error""".split()


@for_each("name", [*STREAM, *AGENT, *SESSION])
def test_event_of_the_contract_has_a_class(name):
    assert name in TYPES
