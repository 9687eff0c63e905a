"""Message contents of any format → text; what is no text is named in brackets with its kind and size."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import unquote_to_bytes

from agentanvil.dataset.texts import canonical_text
from agentanvil.strict_json import JsonValue

Part = dict[str, JsonValue]

_TEXT_TYPES = frozenset({"text", "input_text", "output_text", "summary_text", "reasoning_text", "refusal", "logs"})
_KINDS = {
    **dict.fromkeys(("image", "image_url", "input_image", "image_file"), "image"),
    **dict.fromkeys(("audio", "input_audio"), "audio"),
    **dict.fromkeys(("video", "video_url", "input_video"), "video"),
    **dict.fromkeys(("file", "input_file", "container_upload"), "file"),
    **dict.fromkeys(("document", "resource", "resource_link", "blob", "uri"), ""),
}
_PAYLOADS = ("data", "blob", "bytes", "raw", "base64", "file_data", "content")
_LINKS = ("url", "uri", "image_url", "file_url", "file_uri", "fileUri", "file_id", "fileId", "filename", "name")
_MEDIA_TYPES = ("media_type", "mimeType", "mime_type", "mediaType", "format")


def text_of(content: JsonValue, notes: set[str]) -> str:
    """Return the text of a content: parts are joined by line breaks. Adds `non_text_part` and `refusal` to `notes`."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(_part_text(part, notes) for part in content)
    return _part_text(content, notes)


def has_parts(value: JsonValue) -> bool:
    """Say whether `value` is a non-empty list of typed content parts, and no data of a tool's own."""
    return isinstance(value, list) and bool(value) and all(_is_part(part) for part in value)


def media(part: Part, kind: str, notes: set[str]) -> str:
    """Return the bracketed name of a part that is no text, such as `[image image/png 67 bytes]`."""
    notes.add("non_text_part")
    mime, size, link = "", None, ""
    for place in _places(part):
        mime = mime or next((found for key in _MEDIA_TYPES if isinstance(found := place.get(key), str)), "")
        if size is None:
            size = next((_decoded_size(found) for key in _PAYLOADS if isinstance(found := place.get(key), str)), None)
        for key in _LINKS:
            found = place.get(key)
            if not isinstance(found, str) or not found:
                continue
            if found.startswith("data:"):
                mime, size = _data_url(found)
            link = link or found
    if not kind:
        kind = mime.partition("/")[0] if mime.startswith(("image/", "audio/", "video/")) else "file"
    if mime and "/" not in mime and kind in ("image", "audio", "video"):
        mime = f"{kind}/{mime}"
    words = (
        [kind, *([mime] if mime else []), f"{size} bytes"] if size is not None else [kind, *([link] if link else [])]
    )
    return f"[{' '.join(words)}]"


def _is_part(part: JsonValue) -> bool:
    kind = part.get("type") if isinstance(part, dict) else None
    return isinstance(kind, str) and (kind in _TEXT_TYPES or kind in _KINDS)


def _part_text(part: JsonValue, notes: set[str]) -> str:
    if not isinstance(part, dict):
        return part if isinstance(part, str) else canonical_text(part)
    kind = part.get("type")
    text = part.get(kind) if isinstance(kind, str) and kind in ("refusal", "logs") else part.get("text")
    if isinstance(text, str) and (kind is None or (isinstance(kind, str) and kind in _TEXT_TYPES)):
        notes |= {"refusal"} if kind == "refusal" else set()
        return text
    if kind == "search_result":
        return text_of(part.get("content"), notes)
    if isinstance(kind, str) and kind in _KINDS:
        inner = _inner_text(part)
        word = kind if kind in ("document", "resource", "resource_link") else _KINDS[kind]
        return media(part, word, notes) if inner is None else inner
    return text if isinstance(text, str) else canonical_text(part)


def _inner_text(part: Part) -> str | None:
    """The text of an embedded resource or document that is text after all."""
    for key in ("resource", "source"):
        inner = part.get(key)
        if isinstance(inner, dict):
            if isinstance(text := inner.get("text"), str):
                return text
            if inner.get("type") == "text" and isinstance(data := inner.get("data"), str):
                return data
    return None


def _places(part: Part) -> Iterator[Part]:
    """The objects in which formats keep the payload of a part."""
    yield part
    for key in ("source", "image_url", "input_audio", "file", "resource", "audio", "inlineData"):
        inner = part.get(key)
        if isinstance(inner, dict):
            yield inner
    if isinstance(image := part.get("image"), str):
        yield {"data": image} if not image.startswith(("data:", "http")) else {"url": image}


def _decoded_size(payload: str) -> int:
    if payload.startswith("data:"):
        return _data_url(payload)[1]
    padding = len(payload) - len(payload.rstrip("="))
    digits = len(payload) - padding - sum(payload.count(space) for space in "\r\n \t")
    return digits * 3 // 4


def _data_url(url: str) -> tuple[str, int]:
    head, _, payload = url[5:].partition(",")
    mime = head.partition(";")[0]
    if head.endswith(";base64"):
        return mime, _decoded_size(payload.removeprefix("data:"))
    return mime, len(unquote_to_bytes(payload))
