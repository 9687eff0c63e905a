"""Inspect .eval archives: a zip with one member a sample, compressed with deflate or, nowadays, zstd."""

from __future__ import annotations

import re
import struct
import sys
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from agentanvil.dataset.traces.faults import TraceError, TraceFault, TraceRecord
from agentanvil.dataset.traces.hidden import hidden_in
from agentanvil.dataset.traces.inspect_log import read_sample
from agentanvil.dataset.traces.window import NotUtf8Error, Window
from agentanvil.errors import Where
from agentanvil.strict_json import JsonError, JsonValue

MAGIC = b"PK\x03\x04"

_HEADERS = ("header.json", "_journal/start.json")
_SAMPLE = re.compile(r"samples/[^/]+\.json")
_ZSTD = 93
_LOCAL_HEADER = struct.Struct("<4s5H3I2H")
_ENCRYPTED = 1
# No member may unpack to more than this: a sample of that size is an attack or a mistake.
_MOST_BYTES = 1 << 29


class _Decompressor(Protocol):
    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


class _BadMemberError(Exception):
    """One member cannot be unpacked."""


def is_archive(path: Path) -> bool:
    """Say whether a zip file is an Inspect log."""
    try:
        with zipfile.ZipFile(path) as archive:
            return bool(set(_HEADERS) & set(archive.namelist()))
    except (zipfile.BadZipFile, OSError, ValueError):
        return path.suffix.casefold() == ".eval"


def read_archive(path: Path, name: str) -> Iterator[TraceRecord]:
    """Yield the traces of an archive. A log that was interrupted has no header, but its samples are there.

    Raises TraceError: `not_json` for a damaged archive, `unknown_format` for another kind of one, `empty` for one
    without samples, and `unsupported_compression` where members are zstd and no decoder is installed.
    """
    where = Where(name)
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise TraceError(f"is a damaged zip archive: {error}", "not_json", where=where) from None
    with archive:
        members = {info.filename: info for info in archive.infolist()}
        header = next((members[key] for key in _HEADERS if key in members), None)
        if header is None:
            raise TraceError("is a zip archive, but no Inspect log", "unknown_format", where=where)
        samples = [info for key, info in members.items() if _SAMPLE.fullmatch(key)]
        if not samples:
            raise TraceError("holds no samples", "empty", where=where)
        evaluation = _evaluation(archive, header, where)
        for info in samples:
            try:
                value = _parsed(_unpack(archive, info, where))
            except _BadMemberError as error:
                yield TraceRecord(None, fault=TraceFault("not_json", f"{info.filename}: {error}"))
                continue
            hidden = hidden_in([value])
            for trace in read_sample(value, evaluation):
                yield TraceRecord(None, trace, hidden=hidden)


def _evaluation(archive: zipfile.ZipFile, header: zipfile.ZipInfo, where: Where) -> JsonValue:
    try:
        return _parsed(_unpack(archive, header, where)).get("eval")
    except _BadMemberError:
        return None


def _parsed(data: bytes) -> dict[str, JsonValue]:
    try:
        value = Window(None, data.decode("utf-8")).value_with_nan()
    except (JsonError, UnicodeDecodeError, NotUtf8Error) as error:
        raise _BadMemberError(str(error)) from None
    if not isinstance(value, dict):
        raise _BadMemberError("it holds no object")
    return value


def _unpack(archive: zipfile.ZipFile, info: zipfile.ZipInfo, where: Where) -> bytes:
    if info.flag_bits & _ENCRYPTED:
        raise _BadMemberError("it is encrypted")
    if info.file_size > _MOST_BYTES:
        raise _BadMemberError(f"it unpacks to more than {_MOST_BYTES:,} bytes")
    if info.compress_type == _ZSTD:
        return _unpack_zstd(archive, info, where)
    try:
        with archive.open(info) as member:
            return member.read(_MOST_BYTES)
    except NotImplementedError:
        raise TraceError(
            f"is compressed in a way that this Python cannot unpack (zip method {info.compress_type})",
            "unsupported_compression",
            where=where,
        ) from None
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
        raise _BadMemberError(str(error)) from None


def _unpack_zstd(archive: zipfile.ZipFile, info: zipfile.ZipInfo, where: Where) -> bytes:
    """The zip module of Python knows zstd from 3.14 on: here the member's bytes are found by its local header."""
    decoder = _decoder(where)
    stream = archive.fp
    if stream is None:
        raise _BadMemberError("the archive is closed")
    stream.seek(info.header_offset)
    head = stream.read(_LOCAL_HEADER.size)
    if len(head) < _LOCAL_HEADER.size or not head.startswith(MAGIC):
        raise _BadMemberError("its local header is damaged")
    *_, name_length, extra_length = _LOCAL_HEADER.unpack(head)
    stream.seek(name_length + extra_length, 1)
    try:
        data = decoder.decompress(stream.read(info.compress_size), info.file_size + 1)
    except Exception as error:  # the decoders of different Pythons raise classes of their own
        raise _BadMemberError(f"its zstd data is damaged: {error}") from None
    if len(data) != info.file_size or zlib.crc32(data) != info.CRC:
        raise _BadMemberError("its checksum does not match")
    return data


def _decoder(where: Where) -> _Decompressor:
    # An optional extra: only logs of recent Inspect versions need it.
    try:
        if sys.version_info >= (3, 14):
            from compression import zstd  # noqa: PLC0415
        else:
            from backports import zstd  # noqa: PLC0415
    except ImportError:
        raise TraceError(
            "is compressed with zstd, and no zstd decoder is installed",
            "unsupported_compression",
            where=where,
            hint="pip install 'agentanvil-judge[traces]'",
        ) from None
    return zstd.ZstdDecompressor()
