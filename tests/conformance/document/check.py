"""Asks every route of the running server's OpenAPI document what the document allows and what it does
not, as a superuser, as somebody who is none, and as nobody. No answer may be a failure of the server
or one that the document doesn't describe.

The environment: BULKHEAD_URL, and the two people's access tokens in BULKHEAD_SUPERUSER and
BULKHEAD_USER.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import things

HERE = Path(__file__).parent
CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
]
# It answers no request but that of a WebSocket.
SOCKETS = ["--exclude-path-regex", "/ws$"]
# It ends the sign-in whose token the others need.
STAY = ["--exclude-path", "/api/v1/auth/logout"]
KEEP = ["--exclude-method", "DELETE"]
PLATFORM = ["--include-path-regex", "^/api/v1/"]


def configuration(parameters, of_projects):
    """Which things the parameters of paths name, as schemathesis reads it."""

    def table(values):
        return [f"{json.dumps('path.' + name)} = {json.dumps(value)}" for name, value in values.items()]

    lines = [f"hooks = {json.dumps(str(HERE / 'media.py'))}", "[parameters]"]
    lines += table({**of_projects, **parameters})
    lines += ["[[operations]]", 'include-path-regex = "^/api/v1/projects/.+/agents/"']
    lines += ["[operations.parameters]", *table(of_projects)]
    return "\n".join(lines) + "\n"


def run(what, config, token, examples, *arguments):
    """One run; whether nothing was found."""
    begun = time.monotonic()
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(config), "run"]
    command += [os.environ["BULKHEAD_URL"] + "/openapi.json", "--checks", ",".join(CHECKS)]
    command += ["--phases", "coverage,fuzzing", "--max-examples", str(examples), "--seed", "1"]
    command += ["--no-shrink", "--continue-on-failure", "--generation-database", "none"]
    command += ["--request-timeout", "60", "--suppress-health-check", "all", "--warnings", "off"]
    command += ["--no-color", *SOCKETS, *arguments]
    if token:
        command += ["-H", f"authorization: Bearer {token}"]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=config.parent)
    print(f"== {what}: {time.monotonic() - begun:.0f} s")
    if ended.returncode:
        print(ended.stdout, ended.stderr)
    return ended.returncode == 0


def main():
    url = os.environ["BULKHEAD_URL"]
    superuser, user = os.environ["BULKHEAD_SUPERUSER"], os.environ["BULKHEAD_USER"]
    root, ada = things.Api(url, superuser), things.Api(url, user)
    agent_type = things.agent_type(root)
    with tempfile.TemporaryDirectory() as folder:
        roots, adas = Path(folder, "root.toml"), Path(folder, "ada.toml")
        of_v1 = {**things.of_agents(root), **things.of_installation(root)}
        roots.write_text(configuration(of_v1, things.of_projects(root, agent_type)))
        of_v1 = things.of_agents(ada)
        adas.write_text(configuration(of_v1, things.of_projects(ada, agent_type)))
        fine = [
            run("a superuser", roots, superuser, 8, *KEEP, *STAY),
            run("a user", adas, user, 8, *KEEP, *STAY, *PLATFORM),
            # Most of it is refused to a user, or is about nothing: few examples show that.
            run("a user on /v1", adas, user, 2, *KEEP, "--include-path-regex", "^/v1/"),
            run("nobody", adas, None, 3, *PLATFORM),
            # Last, since nothing is left then.
            run("a user deletes", adas, user, 3, "--include-method", "DELETE"),
            run("a superuser deletes", roots, superuser, 3, "--include-method", "DELETE"),
            run("a user leaves", adas, user, 3, "--include-path", "/api/v1/auth/logout"),
        ]
    sys.exit(0 if all(fine) else 1)


main()
