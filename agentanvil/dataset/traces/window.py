"""A file of JSON read value by value through a small window, however large the file is."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable
from typing import BinaryIO

from agentanvil.dataset.traces.jsontext import NAN_DECODER, PLAIN_DECODER
from agentanvil.strict_json import JsonError, JsonFault, JsonValue, parse_json_at, replace_surrogates

_CHUNK = 1 << 18
_SPACE = re.compile(r"[ \t\r\n]*")
# A fault this close to the end of what was read may only mean that the rest is not read yet: \ud83d\ude00.
_NEAR_END = 16
_BOM = "\ufeff"

Decoder = Callable[[str, int], tuple[JsonValue, int]]


class TooLargeError(Exception):
    """The value is larger than the caller wants to hold."""


class NotUtf8Error(ValueError):
    """The bytes are no UTF-8; `offset` is the first bad one in the file."""

    def __init__(self, offset: int) -> None:
        super().__init__(f"byte {offset} of the file is not UTF-8")
        self.offset = offset


class Window:
    """A cursor in the JSON text of a stream. Only what the current value needs is held."""

    def __init__(self, stream: BinaryIO | None, text: str = "", offset: int = 0, line: int = 1) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._read = offset
        self.text = text
        self.at = 0
        self._began = 0
        self.ended = stream is None
        self._seen = 0
        self._offset = offset
        self._line = line

    def place(self) -> tuple[int, int]:
        """Return the byte offset and the 1-based line of the cursor."""
        passed = self.text[self._seen : self.at]
        self._offset += len(passed) if passed.isascii() else len(passed.encode("utf-8", "surrogatepass"))
        self._line += passed.count("\n")
        self._seen = self.at
        return self._offset, self._line

    def peek(self) -> str:
        """Skip white space and return the character there, "" at the end. Raises NotUtf8Error."""
        while True:
            self.at = _SPACE.match(self.text, self.at).end()  # type: ignore[union-attr]
            if self.at < len(self.text):
                return self.text[self.at]
            if self.ended:
                return ""
            self._fill()

    def take(self, *wanted: str) -> str:
        """Step over one of the characters `wanted` and return it. Raises JsonError where another one stands."""
        found = self.peek()
        if found not in wanted:
            kind: JsonFault = "syntax" if found else "open_string"
            shown = " or ".join(f"`{each}`" for each in wanted)
            raise JsonError(f"not JSON: expecting {shown}", kind, self.at)
        self.at += 1
        return found

    def value(self, most: int | None = None) -> JsonValue:
        """Return the strict JSON value here and step over it.

        Raises JsonError, and TooLargeError where the value has more than about `most` characters: the cursor stays.
        """
        found, end = self._decode(parse_json_at, most)
        found, _ = replace_surrogates(self.text[self.at : end], found)
        self._began, self.at = self.at, end
        return found

    @property
    def last(self) -> str:
        """The text of the value that `value` returned last."""
        return self.text[self._began : self.at]

    def value_with_nan(self, most: int | None = None) -> JsonValue:
        """Return the value here in which NaN and Infinity may stand bare, as their names. Raises as `value` does."""
        found, end = self._decode(NAN_DECODER.raw_decode, most)
        found, _ = replace_surrogates(self.text[self.at : end], found)
        self.at = end
        return found

    def skip(self) -> None:
        """Step over a value that is JSON in form only. Raises JsonError where it is not even that."""
        _, self.at = self._decode(PLAIN_DECODER.raw_decode, None)

    def _decode(self, decode: Decoder, most: int | None) -> tuple[JsonValue, int]:
        self.peek()
        while True:
            try:
                found, end = decode(self.text, self.at)
            except (ValueError, RecursionError) as error:
                fault = as_json_error(error)
                if self.ended or not self._may_be_cut(fault):
                    raise fault from None
            else:
                if self.ended or end < len(self.text) or isinstance(found, dict | list | str):
                    return found, end
            if most is not None and len(self.text) - self.at > most:
                raise TooLargeError
            self._fill()

    def _may_be_cut(self, fault: JsonError) -> bool:
        if fault.fault == "open_string":
            return True
        return fault.offset is not None and fault.offset >= len(self.text) - _NEAR_END

    def _fill(self) -> None:
        """Read as much again as is held, so that a long value is not decoded over and over."""
        self.place()
        if self._stream is None:
            return
        data = self._stream.read(max(_CHUNK, len(self.text) - self.at))
        self.ended = not data
        try:
            text = self._decoder.decode(data, final=self.ended)
        except UnicodeDecodeError as error:
            raise NotUtf8Error(self._read + error.start) from None
        if self._read == 0 and text.startswith(_BOM):
            text = text[1:]
            self._offset = len(_BOM.encode())
        self._read += len(data)
        self.text = self.text[self.at :] + text
        self.at = self._seen = 0


def as_json_error(error: ValueError | RecursionError) -> JsonError:
    """Return what any of the decoders raised as the one kind of error that this package knows."""
    if isinstance(error, JsonError):
        return error
    if isinstance(error, json.JSONDecodeError):
        kind: JsonFault = "open_string" if error.msg.startswith("Unterminated string") else "syntax"
        return JsonError(f"not JSON: {error.msg[:1].lower()}{error.msg[1:]}", kind, error.pos)
    if isinstance(error, RecursionError):
        return JsonError("nested too deeply", "limit")
    return JsonError(f"not JSON: {error}", "limit")
