"""What a provider reports as an error, in every shape it does so, read into one record. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from agentanvil.client.envelope import readable
from agentanvil.client.headers import parse_duration

BLOCKED_INPUT = "moderation_blocked"
DAY_USED_UP = "quota_of_the_day_used_up"
_CODES = ("code", "type", "status", "error_code", "error_type", "reason")


@dataclass(frozen=True, slots=True)
class Fault:
    """One reported failure. `status` is the HTTP status, or the inner code of an error inside a 200.

    `names` holds every symbolic code in it (code, type, status …), lower case. `param` is the parameter that
    the provider blames. `wait_s` is the wait that the body asks for, in seconds.
    """

    status: int | None
    message: str = ""
    names: frozenset[str] = frozenset()
    param: str | None = None
    wait_s: float | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def said(self) -> str:
        code = "an error" if self.status is None else str(self.status)
        return f"the judge answered {code}: {self.message}" if self.message else f"the judge answered {code}"


def reported_error(body: object) -> dict[str, object] | None:
    """Return what a JSON body gives as its error, or None where it reports none.

    Known shapes: `{"error": {…}}` (also in a list, as Google's compatible route does), `{"error": "text"}`,
    `{"errors": […]}`, a flat object (Mistral), and `{"detail": …}` (FastAPI).
    """
    body = _first(body)
    if not isinstance(body, dict):
        return None
    error = _first(body.get("error") or body.get("errors"))
    if isinstance(error, dict) and error:
        return error
    if error:
        said = [str(text) for text in (error, body.get("message")) if text and text is not True]
        return {**body, "message": ": ".join(said), "code": body.get("code") or error}
    if body.get("choices"):
        return None
    if body.get("detail"):
        return {**body, "message": body["detail"]}
    flat = "error" in (body.get("object"), body.get("type")) or (body.get("message") and "object" not in body)
    return body if flat else None


def fault_of(error: Mapping[str, object], status: int | None, headers: Mapping[str, str]) -> Fault:
    """Read an error as `reported_error` returned it. `status` None: the inner code, if there is one, stands for it."""
    message, param = _message(error.get("message"))
    upstream = error.get("metadata")
    if isinstance(upstream, dict) and isinstance(upstream.get("raw"), str):
        message = f"{message}: {upstream['raw']}"  # OpenRouter's own message says only that its provider failed
    details = [item for item in _listed(error.get("details")) if isinstance(item, dict)]
    given = error.get("param") or param or _violated_field(details)
    return Fault(
        status=_inner_status(error) if status is None else status,
        message=readable(message),
        names=frozenset((*_names(error), *_names_of_details(details))),
        param=given if isinstance(given, str) else None,
        wait_s=_retry_delay(details),
        headers=headers,
    )


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _first(value: object) -> object:
    return value[0] if isinstance(value, list) and value else value


def _message(value: object) -> tuple[str, str | None]:
    """Return a message as text, and the parameter that a validation list (FastAPI) points to."""
    if isinstance(value, str):
        return value, None
    if isinstance(value, dict) and isinstance(value.get("detail"), list):
        value = value["detail"]
    if not isinstance(value, list):
        return ("" if value is None else str(value)), None
    parts: list[str] = []
    param: str | None = None
    for item in value[:5]:
        if not isinstance(item, dict):
            parts.append(str(item))
            continue
        place = item.get("loc")
        steps = [str(step) for step in place if step != "body"] if isinstance(place, list) else []
        param = param or (steps[0] if steps else None)
        parts.append(f"{'.'.join(steps)}: {item.get('msg', '')}" if steps else str(item.get("msg", "")))
    return "; ".join(parts), param


def _names(error: Mapping[str, object]) -> list[str]:
    found = [_name(value) for key in _CODES if isinstance(value := error.get(key), str) and not value.isdigit()]
    for key in ("innererror", "metadata"):
        for item in _listed(error.get(key)):
            if isinstance(item, dict):
                found += [_name(value) for inner in _CODES if isinstance(value := item.get(inner), str)]
                if item.get("flagged_input") or item.get("reasons"):
                    found.append(BLOCKED_INPUT)
    return found


def _names_of_details(details: list[dict[str, object]]) -> list[str]:
    """Return the codes in Google's and Anthropic's `details`, and whether a quota of the whole day is used up."""
    found = [_name(value) for item in details for key in _CODES if isinstance(value := item.get(key), str)]
    if any("PerDay" in str(violation.get("quotaId")) for violation in _violations(details, "violations")):
        found.append(DAY_USED_UP)
    return found


def _violated_field(details: list[dict[str, object]]) -> str | None:
    """Return the request field that Google's BadRequest detail blames."""
    fields = (violation.get("field") for violation in _violations(details, "fieldViolations"))
    return next((field for field in fields if isinstance(field, str) and field), None)


def _violations(details: list[dict[str, object]], key: str) -> Iterator[dict[str, object]]:
    for item in details:
        listed = item.get(key)
        for violation in listed if isinstance(listed, list) else ():
            if isinstance(violation, dict):
                yield violation


def _retry_delay(details: list[dict[str, object]]) -> float | None:
    """Return the seconds in Google's RetryInfo detail, which stands in for a Retry-After header."""
    said = (item.get("retryDelay") for item in details)
    return next((wait for text in said if isinstance(text, str) and (wait := parse_duration(text)) is not None), None)


def _name(code: str) -> str:
    return code.strip().lower().replace(" ", "_").replace("-", "_")


def _inner_status(error: Mapping[str, object]) -> int | None:
    for key in ("code", "status", "status_code"):
        value = error.get(key)
        if isinstance(value, str) and value.isascii() and value.isdigit():
            value = int(value[:4])
        if isinstance(value, int) and not isinstance(value, bool) and 400 <= value <= 599:
            return value
    return None
