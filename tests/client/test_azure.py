from __future__ import annotations

import pytest

from agentanvil.client import ChatRequest, Message, ReplySchema, Sampling
from agentanvil.client.azure import AzureChat, AzureDeployment, AzureResponses
from agentanvil.client.spec import JudgeSpec, parse_judge
from agentanvil.errors import EndpointError, RejectedError, UsageError
from tests.fakes.asking import ask_judge
from tests.fakes.openai_family import azure_filter, response
from tests.fakes.server import Answer, FakeServer, Recorded, answer_json, chat, error

SCHEMA = ReplySchema("verdict", {"type": "object", "properties": {"score": {"type": "integer"}}})
REQUEST = ChatRequest((Message("user", "Grade."),), SCHEMA, Sampling(max_tokens=256))
VERSION = "2025-04-01-preview"
RESOURCE = "https://res.openai.azure.com"
TOKEN = "eyJ0eXAi.CANARY.sig"


@pytest.mark.parametrize(
    ("at", "spec"),
    [
        (RESOURCE, JudgeSpec("azure", "d", f"{RESOURCE}/openai/v1")),
        (f"{RESOURCE}/", JudgeSpec("azure", "d", f"{RESOURCE}/openai/v1")),
        (f"{RESOURCE}/openai/v1/", JudgeSpec("azure", "d", f"{RESOURCE}/openai/v1")),
        (f"{RESOURCE}/openai/v1/chat/completions", JudgeSpec("azure", "d", f"{RESOURCE}/openai/v1")),
        ("https://apim.example/llm", JudgeSpec("azure", "d", "https://apim.example/llm")),
        (f"{RESOURCE}?api-version={VERSION}", JudgeSpec("azure", "d", RESOURCE, VERSION)),
        (f"{RESOURCE}/?api-version=2024-10-21", JudgeSpec("azure", "d", RESOURCE, "2024-10-21")),
        (
            f"{RESOURCE}/openai/deployments/d/chat/completions?api-version={VERSION}",
            JudgeSpec("azure", "d", RESOURCE, VERSION),
        ),
    ],
)
def test_an_address_is_read_as_the_portal_shows_it(at: str, spec: JudgeSpec) -> None:
    found = parse_judge(f"azure:d@{at}")
    assert found == spec
    assert parse_judge(str(found)) == found


@pytest.mark.parametrize(
    "text",
    [
        f"azure:d@{RESOURCE}?api-key=CANARY",
        f"azure:d@{RESOURCE}?api-version={VERSION}&api-key=CANARY",
        f"azure:d@{RESOURCE}?api-version=CANARY",
        f"azure:d@{RESOURCE}?api-version=2025-04-01#CANARY",
        f"azure:d@{RESOURCE}?api-version=2025-04-01%0aCANARY",
        f"azure:d@https://u:CANARY@res.openai.azure.com?api-version={VERSION}",
        f"azure:d@{RESOURCE}/openai/v1?api-version={VERSION}",
        f"azure-responses:d@{RESOURCE}?api-version={VERSION}",
        f"openai:d@{RESOURCE}?api-version={VERSION}",
        f"compat:d@{RESOURCE}/v1?api-version={VERSION}",
        "azure:d",
    ],
)
def test_no_other_query_is_taken(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_judge(text)
    assert "CANARY" not in str(caught.value)
    assert caught.value.hint


def test_a_deployments_name_cannot_leave_its_place_in_the_path() -> None:
    path = AzureDeployment(api_version=VERSION).path("../a?b=c#d e")
    assert path == f"/openai/deployments/..%2Fa%3Fb%3Dc%23d%20e/chat/completions?api-version={VERSION}"


@pytest.mark.parametrize("adapter", [AzureChat(), AzureDeployment(api_version=VERSION), AzureResponses()])
def test_a_key_and_a_token_have_headers_of_their_own(adapter: AzureChat | AzureResponses) -> None:
    assert adapter.headers("K-1")["api-key"] == "K-1"
    assert "Authorization" not in adapter.headers("K-1")
    assert adapter.headers(TOKEN)["Authorization"] == f"Bearer {TOKEN}"
    assert "api-key" not in adapter.headers(TOKEN)
    assert adapter.headers(None).keys() == {"Content-Type", "Accept"}


def test_versions_are_remembered_apart() -> None:
    kinds = {AzureChat().api, AzureDeployment(api_version=VERSION).api, AzureDeployment(api_version="2024-10-21").api}
    assert len(kinds) == 3


@pytest.mark.parametrize(
    ("provider", "at", "path", "answer"),
    [
        ("azure", "", "/openai/v1/chat/completions", chat("4")),
        ("azure", "/openai/v1", "/openai/v1/chat/completions", chat("4")),
        ("azure-responses", "", "/openai/v1/responses", answer_json(response("4"))),
        (
            "azure",
            f"?api-version={VERSION}",
            f"/openai/deployments/m/chat/completions?api-version={VERSION}",
            chat("4"),
        ),
    ],
)
def test_each_way_reaches_its_path(provider: str, at: str, path: str, answer: Answer) -> None:
    with FakeServer(answer) as server:
        reply, _ = ask_judge(server, provider, REQUEST, at=at, key="CANARY-8")
    assert reply.text == "4"
    (asked,) = server.requests
    assert (asked.path, asked.headers["api-key"]) == (path, "CANARY-8")
    assert asked.json["model"] == "m"
    assert b"CANARY" not in asked.body


def test_an_old_version_is_asked_with_the_older_cap_and_without_a_schema() -> None:
    def old(request: Recorded) -> Answer:
        body = request.json
        if "max_completion_tokens" in body:
            return error(400, "Unrecognized request argument supplied: max_completion_tokens")
        if body.get("response_format", {}).get("type") == "json_schema":
            said = "response_format value as json_schema is enabled only for api versions 2024-08-01-preview and later"
            return error(400, said, code="BadRequest")
        return chat("4")

    with FakeServer(old) as server:
        reply, shape = ask_judge(server, "azure", REQUEST, at=f"?api-version={VERSION}")
    assert (reply.text, reply.rung) == ("4", "tool")
    assert (shape.cap_field, shape.dropped) == ("max_tokens", frozenset())
    assert server.bodies[-1]["max_tokens"] == 256


def test_a_filtered_prompt_is_the_rows_matter_and_a_missing_deployment_the_endpoints() -> None:
    with FakeServer(azure_filter()) as server, pytest.raises(RejectedError) as caught:
        ask_judge(server, "azure", REQUEST, at="")
    assert caught.value.code == "blocked"
    missing = answer_json({"error": {"code": "DeploymentNotFound", "message": "no such deployment"}}, 404)
    with FakeServer(missing) as server, pytest.raises(EndpointError, match="no such deployment"):
        ask_judge(server, "azure", REQUEST, at="")
