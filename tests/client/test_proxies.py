from __future__ import annotations

import pytest

from agentanvil.client.proxies import find_proxy, proxy_secrets
from agentanvil.errors import ConfigError

JUDGE = "https://judge.example:8443/v1"


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, None),
        ({"HTTPS_PROXY": "http://p:3128"}, "http://p:3128"),
        ({"https_proxy": "http://low:1", "HTTPS_PROXY": "http://up:1"}, "http://low:1"),
        ({"HTTP_PROXY": "http://p:3128"}, None),
        ({"ALL_PROXY": "p:3128"}, "http://p:3128"),
        ({"HTTPS_PROXY": " "}, None),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "other.example"}, "http://p:1"),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "judge.example"}, None),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": ".example, x"}, None),
        ({"HTTPS_PROXY": "http://p:1", "no_proxy": "*"}, None),
    ],
)
def test_the_proxy_is_the_one_the_environment_names(environ: dict[str, str], expected: str | None) -> None:
    assert find_proxy(JUDGE, environ) == expected


@pytest.mark.parametrize("url", ["http://127.0.0.1:8000/v1", "https://localhost/v1", "http://[::1]:1/v1"])
def test_this_machine_is_never_asked_through_a_proxy(url: str) -> None:
    assert find_proxy(url, {"HTTP_PROXY": "http://p:1", "HTTPS_PROXY": "http://p:1", "ALL_PROXY": "http://p:1"}) is None


@pytest.mark.parametrize(
    "proxy", ["socks5://u:CANARY-4@p:1", "http://u:CANARY-4@[p:1", "http://", "http://u:CANARY-4@p:x"]
)
def test_a_proxy_that_cannot_be_used_is_named_by_its_variable_only(proxy: str) -> None:
    with pytest.raises(ConfigError, match="HTTPS_PROXY") as caught:
        find_proxy(JUDGE, {"HTTPS_PROXY": proxy})
    assert "CANARY" not in str(caught.value)


def test_a_proxys_password_is_a_secret() -> None:
    secrets = proxy_secrets("http://u:CANARY%2F4@p:1")
    assert [secret.reveal() for secret in secrets] == ["CANARY%2F4", "CANARY/4"]
    assert proxy_secrets("http://p:1") == ()
    assert proxy_secrets(None) == ()
