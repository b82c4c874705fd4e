"""One thing of each kind, so that routes are asked about what there is."""

import requests

MODEL = "bulkhead/scripted"
HELLO = {"messages": [{"role": "user", "content": "hello"}]}


class Api:
    """The server at `url`, asked with a person's token."""

    def __init__(self, url, token):
        self.url = url
        self.session = requests.Session()
        # No proxy of this machine's.
        self.session.trust_env = False
        self.session.headers["authorization"] = f"Bearer {token}"

    def ask(self, method, path, body=None):
        answer = self.session.request(method, self.url + path, json=body, timeout=60)
        assert answer.ok, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json()

    def get(self, path):
        return self.ask("GET", path)

    def post(self, path, body):
        return self.ask("POST", path, body)


def of_agents(api):
    """An agent of `/v1` with what hangs on it, by the names of the paths' parameters."""
    block = api.post("/v1/blocks/", {"label": "human", "value": "Ada"})
    agent = api.post("/v1/agents/", {
        "name": "ada", "model": MODEL, "block_ids": [block["id"]], "include_base_tools": False,
    })
    archive = api.post("/v1/archives/", {"name": "notes"})
    passage = api.post(f"/v1/archives/{archive['id']}/passages", {"text": "a note"})
    conversation = api.post(f"/v1/conversations/?agent_id={agent['id']}", {})
    api.post(f"/v1/agents/{agent['id']}/messages", HELLO)
    tool = api.get("/v1/tools/")[0]
    return {
        "agent_id": agent["id"],
        "archive_id": archive["id"],
        "block_id": block["id"],
        "block_label": "human",
        "conversation_id": conversation["id"],
        "message_id": api.get(f"/v1/agents/{agent['id']}/messages")[0]["id"],
        "passage_id": passage["id"],
        "run_id": api.get(f"/v1/runs/?agent_id={agent['id']}")[0]["id"],
        "step_id": api.get(f"/v1/steps/?agent_id={agent['id']}")[0]["id"],
        "tool_id": tool["id"],
        "tool_name": tool["name"],
    }


def of_installation(api):
    """What is there once for all agents."""
    identity = api.post("/v1/identities/", {
        "identifier_key": "ada", "name": "Ada", "identity_type": "user",
    })
    # An address at which nobody answers: asking it fails at once.
    provider = api.post("/v1/providers/", {
        "name": "nobody", "provider_type": "openai", "api_key": "key",
        "base_url": "http://127.0.0.1:9/v1",
    })
    config = api.post("/v1/sandbox-config/local/default", None)
    variable = api.post(
        f"/v1/sandbox-config/{config['id']}/environment-variable", {"key": "A", "value": "b"}
    )
    component = api.get("/v1/components")[0]["name"]
    return {
        "identity_id": identity["id"],
        "provider_id": provider["id"],
        "sandbox_config_id": config["id"],
        "env_var_id": variable["id"],
        "ref": component,
        "tool": component,
    }


def of_projects(api, agent_type):
    """A project and an agent in it."""
    slug = f"team-{agent_type['slug']}"
    project = api.post("/api/v1/projects", {"name": "Team", "slug": slug})
    agents = f"/api/v1/projects/{project['id']}/agents"
    agent = api.post(agents, {"agent_type_id": agent_type["id"], "name": "Ada"})
    api.post(f"{agents}/{agent['id']}/messages", HELLO)
    return {
        "project_id": project["id"],
        "agent_id": agent["id"],
        "run_id": api.get(f"{agents}/{agent['id']}/runs")[0]["id"],
        "agent_type_id": agent_type["id"],
        "slug": agent_type["slug"],
    }


def agent_type(api):
    """Something that agents of projects are made from."""
    return api.post("/api/v1/agent-types", {
        "name": "Helper", "slug": "helper", "personality_prompt": "You help.",
        "primary_model": MODEL,
    })
