"""What a provider reports as an error, in every shape it does so, read into one record. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from agentanvil.client.envelope import readable


@dataclass(frozen=True, slots=True)
class Fault:
    """One reported failure. `status` is the HTTP status, or the inner code of an error inside a 200.

    `names` holds every symbolic code in it (code, type, status …), lower case. `param` is the parameter that
    the provider blames.
    """

    status: int | None
    message: str = ""
    names: frozenset[str] = frozenset()
    param: str | None = None
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
    given = error.get("param")
    names = frozenset(_names(error))
    return Fault(
        status=_inner_status(error) if status is None else status,
        message=readable(message),
        names=names,
        param=given if isinstance(given, str) and given else param,
        headers=headers,
    )


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
    found: list[str] = []
    for key in ("code", "type", "status", "error_code", "reason"):
        value = error.get(key)
        if isinstance(value, str) and not value.isdigit():
            found.append(_name(value))
    for key in ("details", "innererror"):
        inner = error.get(key)
        for item in inner if isinstance(inner, list) else [inner]:
            if isinstance(item, dict):
                found += [_name(v) for k in ("code", "error_code", "reason") if isinstance(v := item.get(k), str)]
    return found


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
