"""Which proxy the environment names for an address, as curl and others read it. Pure over a mapping."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import unquote, urlsplit
from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]  # absent from typeshed

from agentanvil.client.secret import Secret
from agentanvil.client.spec import is_loopback
from agentanvil.errors import ConfigError


def find_proxy(base_url: str, environ: Mapping[str, str]) -> str | None:
    """Return the proxy for `base_url` from `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`, or None.

    Lower-case names come first. This machine is never asked through a proxy. Raises ConfigError for a proxy
    that cannot be used; its message does not repeat the address, which may hold a password.
    """
    target = urlsplit(base_url)
    host = target.hostname or ""
    if is_loopback(host):
        return None
    name, proxy = _named(f"{target.scheme}_proxy", environ)
    if not proxy:
        name, proxy = _named("all_proxy", environ)
    exempt = _named("no_proxy", environ)[1]
    if not proxy or (exempt and proxy_bypass_environment(_with_port(host, target.port), {"no": exempt})):
        return None
    if "://" not in proxy:
        proxy = f"http://{proxy}"
    try:
        usable = urlsplit(proxy).scheme in {"http", "https"} and urlsplit(proxy).hostname
        _ = urlsplit(proxy).port
    except ValueError:
        usable = None
    if not usable:
        raise ConfigError(
            f"the proxy in {name} is not an http:// or https:// address",
            hint=f"Unset {name}, or exempt the judge's host with NO_PROXY={host}.",
        )
    return proxy


def proxy_secrets(proxy: str | None) -> tuple[Secret, ...]:
    """Return the password in a proxy's address, as written and decoded, for redaction."""
    password = urlsplit(proxy).password if proxy else None
    if not password:
        return ()
    return tuple(Secret(value) for value in dict.fromkeys((password, unquote(password))))


def _named(name: str, environ: Mapping[str, str]) -> tuple[str, str]:
    for variable in (name, name.upper()):
        value = environ.get(variable, "").strip()
        if value:
            return variable, value
    return name, ""


def _with_port(host: str, port: int | None) -> str:
    return host if port is None else f"{host}:{port}"
