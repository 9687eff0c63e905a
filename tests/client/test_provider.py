from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import pytest

from agentanvil.client import ChatReply, ChatRequest, Message, ReplySchema, Sampling
from agentanvil.client.adapter import RUNGS, Shape
from agentanvil.client.chat_completions import ChatCompletions
from agentanvil.client.provider import Endpoint, ProviderClient
from agentanvil.client.secret import Secret
from agentanvil.client.transport import HttpTransport
from agentanvil.errors import (
    AnvilError,
    BudgetReachedError,
    CallError,
    ConfigError,
    EndpointError,
    RateLimitedError,
    RejectedError,
    ServerFaultError,
)
from tests.fakes.server import Answer, FakeServer, Recorded, answer_json, chat, chat_body, error, tool_call
from tests.fakes.tokens import spelling

SCHEMA = ReplySchema("verdict", {"type": "object", "properties": {"score": {"type": "integer"}}})
FIRST = Shape()
T = TypeVar("T")
REQUEST = ChatRequest((Message("user", "Grade."),), SCHEMA, Sampling(seed=7, max_tokens=256))


class Memory:
    def __init__(self) -> None:
        self.shapes: dict[tuple[str, str], Shape] = {}

    def load(self, base_url: str, model: str) -> Shape | None:
        return self.shapes.get((base_url, model))

    def save(self, base_url: str, model: str, shape: Shape) -> None:
        self.shapes[base_url, model] = shape


def with_client(
    server: FakeServer,
    use: Callable[[ProviderClient], Awaitable[T]],
    *,
    first: Shape = FIRST,
    store: Memory | None = None,
    secrets: Sequence[Secret] = (),
) -> T:
    async def run() -> T:
        adapter = ChatCompletions(clock=lambda: 0.0)
        key = secrets[0].reveal() if secrets else None
        transport = HttpTransport(server.url + adapter.path("m"), adapter.headers(key), timeout_s=5)
        client = ProviderClient(adapter, transport, Endpoint(server.url, "m", first), store=store, secrets=secrets)
        try:
            return await use(client)
        finally:
            await client.close()

    return asyncio.run(run())


def ask(server: FakeServer, request: ChatRequest = REQUEST, **how: Any) -> ChatReply:
    return with_client(server, lambda client: client.complete(request), **how)


def refuses(*parameters: str, by_name: bool = True) -> Callable[[Recorded], Answer]:
    """An endpoint that refuses these request fields, one at a time, and answers what is left."""

    def answer(request: Recorded) -> Answer:
        for name in parameters:
            if name in request.json:
                return error(
                    400, f"{name} is not supported", param=name if by_name else None, code="unsupported_parameter"
                )
        return tool_call('{"score":4}') if "tools" in request.json else chat('{"score":4}')

    return answer


def test_a_reply_tells_how_it_came_about() -> None:
    headers = {"x-request-id": "req_1", "x-ratelimit-remaining-requests": "9"}
    with FakeServer(chat('{"score":4}', headers=headers)) as server:
        reply = ask(server)
    assert (reply.text, reply.model, reply.request_id) == ('{"score":4}', "fake-judge-1", "req_1")
    assert (reply.rung, reply.attempts) == ("json_schema", 1)
    assert reply.latency_s > 0
    assert reply.rates is not None
    assert reply.rates.requests.remaining == 9
    assert server.bodies[0]["seed"] == 7


@pytest.mark.parametrize("by_name", [True, False])
@pytest.mark.parametrize(
    ("parameters", "dropped"),
    [
        pytest.param(["temperature"], ["temperature"], id="O-A32-O-A34"),
        pytest.param(["seed"], ["seed"], id="seed"),
        pytest.param(["temperature", "seed"], ["seed", "temperature"], id="both"),
        pytest.param(["max_tokens", "max_completion_tokens", "seed"], ["max_completion_tokens", "seed"], id="no-cap"),
    ],
)
def test_a_refused_default_is_dropped_remembered_and_listed(
    parameters: list[str], dropped: list[str], by_name: bool
) -> None:
    async def twice(client: ProviderClient) -> tuple[ChatReply, ChatReply, tuple[str, ...]]:
        return await client.complete(REQUEST), await client.complete(REQUEST), client.dropped

    with FakeServer(refuses(*parameters, by_name=by_name)) as server:
        first, second, listed = with_client(server, twice)
    assert (first.attempts, second.attempts) == (len(parameters) + 1, 1)
    assert len(server.requests) == len(parameters) + 2
    assert list(listed) == dropped
    assert not server.bodies[-1].keys() & set(parameters)


@pytest.mark.parametrize("parameter", ["temperature", "seed"])
def test_a_refused_parameter_that_the_user_set_is_a_config_error(parameter: str) -> None:
    sampling = Sampling(seed=7, explicit=frozenset({parameter}))
    with FakeServer(refuses("temperature", "seed")) as server, pytest.raises(ConfigError, match=parameter) as caught:
        ask(server, replace(REQUEST, sampling=sampling))
    assert caught.value.hint
    assert len(server.requests) <= 2


def test_the_caps_name_follows_the_server_even_where_the_user_set_the_cap() -> None:
    """O-A35, both ways round."""
    sampling = Sampling(max_tokens=256, explicit=frozenset({"max_tokens"}))
    for first, refused, taken in (
        ("max_tokens", "max_tokens", "max_completion_tokens"),
        ("max_completion_tokens", "max_completion_tokens", "max_tokens"),
    ):
        with FakeServer(refuses(refused)) as server:
            ask(server, replace(REQUEST, sampling=sampling), first=Shape(cap_field=first))
        assert server.bodies[-1][taken] == 256
        assert refused not in server.bodies[-1]


def test_a_cap_of_the_wrong_size_is_not_a_cap_of_the_wrong_name() -> None:
    too_large = error(400, "max_tokens is too large: 256, at most 128", param="max_tokens", code="invalid_value")
    script = [too_large, chat("x")]
    with FakeServer(script) as server:
        ask(server)
    assert "max_completion_tokens" not in server.bodies[-1]
    explicit = replace(REQUEST, sampling=Sampling(max_tokens=256, explicit=frozenset({"max_tokens"})))
    with FakeServer(script) as server, pytest.raises(ConfigError, match="at most 128"):
        ask(server, explicit)


def test_the_ladder_goes_down_one_rung_at_a_time() -> None:
    def only_plain(request: Recorded) -> Answer:
        asked = request.json
        if "response_format" in asked:
            return error(400, "no", param="response_format.type")
        return error(400, "library/x does not support tools") if "tools" in asked else chat("x")

    with FakeServer(only_plain) as server:
        reply = ask(server)
    kinds = [
        body.get("response_format", {}).get("type") or ("tools" if "tools" in body else None) for body in server.bodies
    ]
    assert kinds == ["json_schema", "tools", "json_object", None]
    assert (reply.rung, reply.attempts) == ("plain", 4)


def test_a_forced_tool_call_is_the_second_rung() -> None:
    with FakeServer(refuses("response_format")) as server:
        reply = ask(server)
    assert (reply.rung, reply.text) == ("tool", '{"score":4}')


def test_calls_in_flight_do_not_each_go_down_a_rung() -> None:
    async def many(client: ProviderClient) -> tuple[list[ChatReply], Shape]:
        return await asyncio.gather(*(client.complete(REQUEST) for _ in range(20))), client.shape

    slow = refuses("response_format", "temperature")
    with FakeServer(lambda request: slow(request).but(delay_s=0.05)) as server:
        replies, shape = with_client(server, many)
    assert {reply.rung for reply in replies} == {"tool"}
    assert shape == Shape(rung="tool", dropped=frozenset({"temperature"}))
    assert len(server.requests) == 20 + 1 + 20


def test_what_was_learnt_can_outlive_the_run() -> None:
    memory = Memory()
    with FakeServer(refuses("temperature")) as server:
        ask(server, store=memory)
        assert ask(server, store=memory).attempts == 1
    assert memory.shapes == {(f"openai-chat {server.url}", "m"): Shape(dropped=frozenset({"temperature"}))}


@pytest.mark.parametrize("parameter", ["temperature", "max_tokens"])
def test_a_remembered_refusal_does_not_swallow_what_the_user_sets_later(parameter: str) -> None:
    memory = Memory()
    with FakeServer(refuses(parameter, "max_completion_tokens")) as server:
        ask(server, store=memory)
        explicit = replace(REQUEST, sampling=replace(REQUEST.sampling, explicit=frozenset({parameter})))
        with pytest.raises(ConfigError, match=parameter):
            ask(server, explicit, store=memory)


def test_requests_of_another_kind_may_still_teach_something() -> None:
    """A plain request passes first; the structured one beside it is refused twice, and gets through."""

    async def scene(client: ProviderClient) -> list[ChatReply]:
        plain = replace(REQUEST, schema=None)
        return await asyncio.gather(client.complete(plain), client.complete(REQUEST), client.complete(REQUEST))

    with FakeServer(refuses("temperature", "response_format", "tools")) as server:
        replies = with_client(server, scene)
    assert [reply.rung for reply in replies] == ["plain", "plain", "plain"]


def test_a_parameter_refused_although_it_is_not_sent_ends_the_run() -> None:
    """O-A33: the endpoint goes on refusing what was left out already."""

    async def eight(client: ProviderClient) -> list[ChatReply | BaseException]:
        return await asyncio.gather(*(client.complete(REQUEST) for _ in range(8)), return_exceptions=True)

    for answer in (
        error(400, "no", param="temperature", code="unsupported_value"),
        error(400, "no", param="top_p", code="unsupported_value"),
        error(400, "grammar is not supported", param="response_format"),
    ):
        with FakeServer(answer) as server:
            ended = with_client(server, eight)
        assert {type(end) for end in ended} == {EndpointError}
        assert len({id(end) for end in ended}) == 8
        assert len(server.requests) <= 8 + len(RUNGS)


@pytest.mark.parametrize("status", [400, 422])
def test_an_endpoint_that_refuses_everything_costs_what_was_in_flight(status: int) -> None:
    async def eight(client: ProviderClient) -> list[ChatReply | BaseException]:
        return await asyncio.gather(*(client.complete(REQUEST) for _ in range(8)), return_exceptions=True)

    with FakeServer(lambda request: error(status, "no", delay_s=0.02 * request.index)) as server:
        ended = with_client(server, eight)
        assert {type(end) for end in ended} == {EndpointError}
        assert len(server.requests) == 8


def test_one_bad_row_among_good_ones_is_its_own_matter() -> None:
    """The refusal comes back first, as refusals do; the good calls beside it decide what it means."""

    def answer(request: Recorded) -> Answer:
        return error(400, "no") if request.index == 0 else chat("x", delay_s=0.1)

    async def scene(client: ProviderClient) -> list[ChatReply | BaseException]:
        first = asyncio.create_task(client.complete(REQUEST))
        await asyncio.sleep(0.02)
        rest = [client.complete(REQUEST) for _ in range(3)]
        return await asyncio.gather(first, *rest, return_exceptions=True)

    def later(request: Recorded) -> Answer:
        return error(400, "no") if request.index == 1 else chat("x")

    with FakeServer(lambda request: answer(request).but(delay_s=0.1 if request.index else 0.05)) as server:
        ended = with_client(server, scene)
    assert [type(end) for end in ended] == [RejectedError, ChatReply, ChatReply, ChatReply]
    with FakeServer(later) as server:

        async def one_by_one(client: ProviderClient) -> ChatReply:
            await client.complete(REQUEST)
            with pytest.raises(RejectedError):
                await client.complete(REQUEST)
            return await client.complete(REQUEST)

        with_client(server, one_by_one)


def test_one_rows_trouble_does_not_stick() -> None:
    """O-C14"""

    async def scene(client: ProviderClient) -> ChatReply:
        for _ in range(3):
            with pytest.raises(ServerFaultError):
                await client.complete(replace(REQUEST, messages=(Message("user", "a"),)))
        return await client.complete(replace(REQUEST, messages=(Message("user", "b"),)))

    def answer(request: Recorded) -> Answer:
        return error(500, "boom") if request.json["messages"][0]["content"] == "a" else chat('{"score":4}')

    with FakeServer(answer) as server:
        assert with_client(server, scene).text == '{"score":4}'


def test_a_redirect_is_a_refusal_and_the_key_stays_here() -> None:
    """O-H04"""
    with FakeServer() as elsewhere:
        to = Answer(status=302, headers={"Location": f"{elsewhere.origin}/v1/chat/completions"})
        with FakeServer(to) as server, pytest.raises(EndpointError, match="redirect"):
            ask(server, secrets=[Secret("CANARY-8")])
        assert elsewhere.connections == 0


def everything_of(error: BaseException) -> str:
    seen = [str(error), repr(error), repr(error.args)]
    return "".join(seen) + (everything_of(error.__cause__) if error.__cause__ else "")


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500])
def test_an_endpoint_that_echoes_the_key_does_not_bring_it_into_an_error(status: int) -> None:
    """O-H01"""
    key = "CANARY-1/+"
    spelled = f"Bearer {key} %43ANARY CANARY-1%2F%2B " + base64.b64encode(f"u:{key}".encode()).decode()
    with FakeServer(error(status, f"bad key: {spelled}")) as server, pytest.raises(CallError) as caught:
        ask(server, secrets=[Secret(key)])
    assert server.requests[0].headers["authorization"] == f"Bearer {key}"
    shown = everything_of(caught.value)
    assert "CANARY-1" not in shown
    assert base64.b64encode(b"u:CANARY-1/").decode()[4:14] not in shown


def test_a_reply_that_echoes_the_key_loses_it() -> None:
    with FakeServer(chat("the key is CANARY-1", headers={"x-request-id": "CANARY-1"})) as server:
        reply = ask(server, secrets=[Secret("CANARY-1")])
    assert "CANARY" not in repr(reply)


def test_the_fingerprint_is_what_would_be_sent_and_does_not_move() -> None:
    async def scene(client: ProviderClient) -> tuple[bytes, bytes, int]:
        before = client.fingerprint(REQUEST)
        await client.complete(REQUEST)
        kinds = [
            REQUEST,
            replace(REQUEST, schema=None),
            replace(REQUEST, sampling=Sampling(seed=8, max_tokens=256)),
            replace(REQUEST, sampling=Sampling(seed=7, max_tokens=16)),
            replace(REQUEST, sampling=Sampling(temperature=1.0, seed=7, max_tokens=256)),
            replace(REQUEST, messages=(Message("system", "Grade."),)),
        ]
        return before, client.fingerprint(REQUEST), len({client.fingerprint(kind) for kind in kinds})

    with FakeServer(refuses("temperature", "response_format")) as server:
        before, after, distinct = with_client(server, scene)
    assert before == after
    assert server.url.encode() in before
    assert distinct == 6


def test_what_a_budget_says_inside_the_transport_passes_through() -> None:
    class Spent:
        async def send(self, body: bytes) -> Any:
            raise BudgetReachedError("--max-calls is used up")

        async def close(self) -> None: ...

    client = ProviderClient(ChatCompletions(), Spent(), Endpoint("http://127.0.0.1/v1", "m"))
    with pytest.raises(BudgetReachedError):
        asyncio.run(client.complete(REQUEST))


def test_an_error_counts_the_requests_it_cost() -> None:
    script = [error(400, "no", param="seed"), error(429, "slow")]
    with FakeServer(script) as server, pytest.raises(RateLimitedError) as caught:
        ask(server)
    assert caught.value.attempts == 2
    assert isinstance(caught.value, AnvilError)


ASKING = replace(REQUEST, logprobs=5)


@pytest.mark.parametrize("name", ["logprobs", "top_logprobs"])
@pytest.mark.parametrize("by_name", [True, False])
def test_refused_log_probabilities_are_dropped_like_any_default(name: str, by_name: bool) -> None:
    async def twice(client: ProviderClient) -> tuple[ChatReply, ChatReply, tuple[str, ...]]:
        return await client.complete(ASKING), await client.complete(ASKING), client.dropped

    store = Memory()
    with FakeServer(refuses(name, by_name=by_name)) as server:
        first, second, dropped = with_client(server, twice, store=store)
        url = server.url
    assert dropped == ("logprobs",)
    assert (first.text, first.tokens, first.attempts, second.attempts) == ('{"score":4}', (), 2, 1)
    assert store.shapes[f"openai-chat {url}", "m"].dropped == {"logprobs"}


def mute(request: Recorded) -> Answer:
    """Refuse log-probabilities without a word that tells what is refused."""
    return error(422, "no", delay_s=0.01) if "logprobs" in request.json else chat('{"score":4}')


def test_log_probabilities_that_are_refused_without_a_word_are_found_out() -> None:
    async def twice(client: ProviderClient) -> tuple[ChatReply, ChatReply, tuple[str, ...]]:
        return await client.complete(ASKING), await client.complete(ASKING), client.dropped

    with FakeServer(mute) as server:
        first, second, dropped = with_client(server, twice)
        assert len(server.requests) == 3
    assert dropped == ("logprobs",)
    assert (first.text, first.attempts, second.attempts) == ('{"score":4}', 2, 1)


def test_every_call_in_flight_gets_its_answer_without_them() -> None:
    async def eight(client: ProviderClient) -> list[ChatReply | BaseException]:
        return await asyncio.gather(*(client.complete(ASKING) for _ in range(8)), return_exceptions=True)

    with FakeServer(mute) as server:
        ended = with_client(server, eight)
        assert len(server.requests) <= 16
    assert [end.text for end in ended if isinstance(end, ChatReply)] == ['{"score":4}'] * 8


def test_a_row_that_is_refused_after_log_probabilities_passed_is_its_own_matter() -> None:
    async def three(client: ProviderClient) -> tuple[list[ChatReply | BaseException], tuple[str, ...]]:
        asked = [await asyncio.gather(client.complete(ASKING), return_exceptions=True) for _ in range(3)]
        return [end for (end,) in asked], client.dropped

    with FakeServer([chat("{}"), error(400, "no"), chat("{}")]) as server:
        (one, two, last), dropped = with_client(server, three)
        assert len(server.requests) == 3
    assert isinstance(two, RejectedError)
    assert isinstance(one, ChatReply)
    assert isinstance(last, ChatReply)
    assert dropped == ()


def test_an_endpoint_that_refuses_with_and_without_them_ends_the_run() -> None:
    with FakeServer(error(400, "no")) as server:
        with pytest.raises(EndpointError) as caught:
            ask(server, ASKING)
        assert len(server.requests) == 2
    assert caught.value.attempts == 2


def test_log_probabilities_that_the_user_wants_are_no_default() -> None:
    wanted = replace(ASKING, sampling=replace(REQUEST.sampling, explicit=frozenset({"logprobs"})))
    with FakeServer(refuses("logprobs")) as server, pytest.raises(ConfigError, match="refuses logprobs"):
        ask(server, wanted)


def test_log_probabilities_are_part_of_the_calls_identity_only_where_they_are_asked_for() -> None:
    async def both(client: ProviderClient) -> tuple[bytes, bytes]:
        return client.fingerprint(REQUEST), client.fingerprint(ASKING)

    with FakeServer(chat("{}")) as server:
        plain, asking = with_client(server, both)
    assert b"logprobs" not in plain
    assert plain != asking


@pytest.mark.parametrize(("text", "kept"), [('{"score":4}', True), ("CANARY-1", False)])
def test_tokens_never_spell_a_secret(text: str, kept: bool) -> None:
    body = chat_body(text)
    body["choices"][0]["logprobs"] = spelling(text)
    with FakeServer(answer_json(body)) as server:
        reply = ask(server, ASKING, secrets=[Secret("CANARY-1")])
    assert bool(reply.tokens) is kept
