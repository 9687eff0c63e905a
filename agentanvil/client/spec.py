"""`PROVIDER:MODEL[@BASE_URL]`: reading what `--judge` names, strictly, before anything is contacted."""

from __future__ import annotations

import difflib
import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from agentanvil.client.adapter import Adapter
from agentanvil.client.azure import deployment
from agentanvil.client.providers import ProviderRules, providers
from agentanvil.client.secret import Secret
from agentanvil.errors import ConfigError, JudgeSetupError, UsageError

_BASE_URL = re.compile(r"@(?=https?://)", re.IGNORECASE)
_PASTED = re.compile(r"/(?:chat/completions|responses|messages|models/[^/]+:generateContent)\Z")
_API_VERSION = re.compile(r"api-version=(\d{4}-\d{2}-\d{2}(?:-preview)?)", re.ASCII)
_FORM = "A judge is named PROVIDER:MODEL[@BASE_URL], such as compat:my-model@http://127.0.0.1:8000/v1."


@dataclass(frozen=True, slots=True)
class JudgeSpec:
    """Who judges. `model` is a path for `local` (empty: the default model) and `recorded`.

    `base_url` has no trailing slash, no credentials and no query; None where the provider has no endpoint.
    `api_version` is the date that Azure's older API wants to be told, None for every other.
    """

    provider: str
    model: str
    base_url: str | None = None
    api_version: str | None = None

    @property
    def rules(self) -> ProviderRules:
        return providers()[self.provider]

    def make_adapter(self) -> Adapter | None:
        """Return an adapter that speaks with this judge, None where the provider has none."""
        rules = self.rules
        if self.api_version is not None and rules.versioned is not None:
            return rules.versioned(self.api_version)
        return None if rules.adapter is None else rules.adapter()

    def __str__(self) -> str:
        name = f"{self.provider}:{self.model}" if self.model else self.provider
        if self.base_url is None or self.base_url == self.rules.base_url:
            return name
        version = "" if self.api_version is None else f"?api-version={self.api_version}"
        return f"{name}@{self.base_url}{version}"


def parse_judge(text: str, *, allow_http: bool = False) -> JudgeSpec:
    """Read one `--judge`. Raises UsageError; a message never repeats what may be a credential.

    The model ends at the last `@` that an `http://` or `https://` follows, so it may hold `:` and `@`.
    `allow_http` lets a plain-http endpoint be somewhere else than on this machine.
    """
    provider, colon, rest = text.partition(":")
    rules = providers().get(provider)
    if rules is None:
        raise _unknown(provider)
    if colon and not rest:
        raise UsageError(f"the judge {provider}: names nothing after the colon", hint=_FORM)
    if not rest.isprintable() or (rules.takes_url and " " in rest):
        raise UsageError(f"the judge {provider}:… holds a blank, a line break or an unprintable character", hint=_FORM)
    model, url = _split(rest) if rules.takes_url else (rest, None)
    if rules.model is not None and not model:
        raise UsageError(f"the judge {provider} needs {rules.model}: {provider}:…", hint=_FORM)
    if url is not None:
        return _at_url(provider, model, _parts(url, allow_http=allow_http))
    if rules.takes_url and rules.needs_url and rules.base_url is None:
        raise UsageError(
            f"the judge {provider}:{_without_url(model)} needs a base URL",
            hint=f"Add where it listens, with http:// or https://: {provider}:MODEL@http://127.0.0.1:8000/v1.",
        )
    return JudgeSpec(provider, model, rules.base_url)


def find_key(spec: JudgeSpec, environ: Mapping[str, str], name: str | None = None) -> Secret | None:
    """Return the key that `spec` is to be asked with, from `environ`; `name` is what `--api-key-env` says.

    Raises JudgeSetupError where a key is needed and absent, ConfigError where it cannot be one.
    """
    variable = name or spec.rules.key_env
    if variable is None:
        return None
    value = environ.get(variable, "").strip()
    if not value:
        if name is None and not spec.rules.key_required:
            return None
        raise JudgeSetupError(
            f"{spec.provider} needs a key, and the environment variable {variable} is not set",
            hint=f"export {variable}=…, or name another variable with --api-key-env.",
        )
    return sendable_key(value, f"the key in {variable}")


def sendable_key(value: str, what: str) -> Secret:
    """Return a key as a secret; `what` names it in the ConfigError for one that no header can carry."""
    if not (value.isascii() and value.isprintable()):
        raise ConfigError(
            f"{what} cannot be sent: it holds a line break or a character outside ASCII",
            hint="Copy the key again, without quotes or blanks around it.",
        )
    return Secret(value)


def is_loopback(host: str) -> bool:
    """Tell whether `host` is this machine by its very name; no name is looked up."""
    name = host.lower().rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def _split(rest: str) -> tuple[str, str | None]:
    cuts = list(_BASE_URL.finditer(rest))
    if not cuts:
        return rest, None
    model = rest[: cuts[-1].start()]
    if "://" in model:
        raise UsageError("the judge names more than one address", hint=_FORM)
    return model, rest[cuts[-1].end() :]


def _parts(url: str, *, allow_http: bool) -> SplitResult:
    """Return the parts of a base URL: without credentials, and safe to send a key to."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
        _ = parts.port
    except ValueError:
        raise UsageError("the judge's base URL cannot be read", hint="Check its host and port.") from None
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise _overloaded()
    if not host:
        raise UsageError("the judge's base URL names no host", hint=_FORM)
    if parts.scheme == "http" and not allow_http and not is_loopback(host):
        raise UsageError(
            f"the judge at {host} would get the rows and the key over plain http",
            hint="Use https://, or say --allow-http if the way to it is safe (a private network, a tunnel).",
        )
    return parts


def _at_url(provider: str, model: str, parts: SplitResult) -> JudgeSpec:
    """Return the judge at a base URL. What follows the base in a pasted address is cut off."""
    rules = providers()[provider]
    place = f"{parts.scheme}://{parts.netloc.lower()}"
    path = _PASTED.sub("", parts.path.rstrip("/")).rstrip("/")
    if not parts.query:
        return JudgeSpec(provider, model, f"{place}{path or rules.root}")
    version = _API_VERSION.fullmatch(parts.query)
    if version is None or rules.versioned is None:
        raise _overloaded()
    if rules.root and path.endswith(rules.root):
        raise UsageError(
            f"the judge's base URL ends in {rules.root}, which takes no api-version",
            hint=f"Leave out either {rules.root} or the api-version.",
        )
    return JudgeSpec(provider, model, place + path.removesuffix(deployment(model)), version[1])


def _overloaded() -> UsageError:
    return UsageError(
        "the judge's base URL carries credentials, a query or a fragment",
        hint="Write host, port and path only (for azure an ?api-version=YYYY-MM-DD may follow); the key comes from the "
        "environment (--api-key-env NAME).",
    )


def _unknown(provider: str) -> UsageError:
    close = difflib.get_close_matches(provider.lower(), providers(), n=1)
    shown = "" if "@" in provider or not provider.isprintable() else f" {provider!r}"
    meant = f" Did you mean {close[0]}?" if close else ""
    return UsageError(
        f"the judge's provider{shown} is not known; there are {', '.join(providers())}.{meant}", hint=_FORM
    )


def _without_url(model: str) -> str:
    """Cut what may be an address with a password in it."""
    return model.partition("@")[0]
