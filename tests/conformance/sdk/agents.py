"""letta-client of any release that is known to have users, with agents of a running server.

    BULKHEAD_URL=http://localhost:8283 agents.py [PART OF NAMES OF CHECKS]

BULKHEAD_SHOW_CHECKS has each check told with its time. Where FAKE_OPENAI names the
address of the tests' own providers, which the server must know, agents with their models are checked
too.
"""

from __future__ import annotations

import os
import sys

# Imported in the order in which they run.
from resources import agents, blocks, tools  # noqa: F401
from resources import messages, streams, failures, tool_calls, approvals  # noqa: F401
from resources import runs, conversations, upkeep, knowledge, folders, models, files, mcp, sleeptime  # noqa: F401
from resources.testing import run_checks

if "FAKE_OPENAI" in os.environ:
    from resources import vendors  # noqa: F401

failed = run_checks(sys.argv[1] if len(sys.argv) > 1 else "")
if failed:
    sys.exit("\n".join(failed))
