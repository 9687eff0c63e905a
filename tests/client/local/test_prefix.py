from __future__ import annotations

import asyncio
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from agentanvil.client.local import LocalServer, ServerSettings, find_server
from agentanvil.client.local.prefix import share_prefix
from tests.fakes.llama import Fake, put_llama, put_model

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the fake server is a script")

SYSTEM = {"role": "system", "content": "You grade."}
BODY = json.dumps({"messages": [SYSTEM, {"role": "user", "content": "a row"}], "max_tokens": 500}).encode()


def shared(fake: Fake, body: bytes = BODY, slots: int = 3) -> bool:
    """Start the fake, let its slots share what `body` begins with, and stop it."""

    async def main() -> bool:
        settings = ServerSettings(put_model(fake.folder), slots)
        async with LocalServer(find_server(fake.path, lambda: None), settings, fake.environ) as server:
            return await server.share_prefix(body)

    return asyncio.run(main())


def test_the_system_message_is_computed_once_and_copied_to_every_other_slot(tmp_path: Path) -> None:
    fake = put_llama(tmp_path)
    assert shared(fake)
    computed, *copies = fake.shared
    assert computed["path"] == "/v1/chat/completions"
    assert computed["messages"] == [SYSTEM, {"role": "user", "content": ""}]
    assert (computed["id_slot"], computed["max_tokens"]) == (0, 1)
    assert [copy["path"] for copy in copies] == [
        "/slots/0?action=save",
        "/slots/1?action=restore",
        "/slots/2?action=restore",
    ]
    assert len({copy["filename"] for copy in copies}) == 1
    assert fake.asked == []


@pytest.mark.parametrize(
    ("messages", "slots"),
    [([SYSTEM, SYSTEM], 1), ([{"role": "user", "content": "a row"}], 3)],
    ids=["a single slot", "no system message"],
)
def test_where_nothing_is_to_be_shared_nothing_is_asked(tmp_path: Path, messages: list[Any], slots: int) -> None:
    fake = put_llama(tmp_path)
    assert not shared(fake, json.dumps({"messages": messages}).encode(), slots)
    assert fake.shared == []


def test_a_server_that_cannot_save_slots_still_serves(tmp_path: Path) -> None:
    fake = put_llama(tmp_path, saves=False)
    assert not shared(fake)
    assert len(fake.shared) == 1


def test_a_server_that_is_gone_is_left_to_the_call_itself(tmp_path: Path) -> None:
    assert not asyncio.run(share_prefix("http://127.0.0.1:9", 2, tmp_path, BODY))


def test_what_was_saved_is_removed_and_so_is_its_folder(tmp_path: Path) -> None:
    saved = tmp_path / "prefix.bin"
    saved.write_bytes(b"k")
    asyncio.run(share_prefix("http://127.0.0.1:9", 2, tmp_path, BODY))
    assert not saved.exists()
    fake = put_llama(tmp_path)
    assert shared(fake)
    folder = Path(fake.starts[0].option("--slot-save-path"))
    assert folder.parent == Path(tempfile.gettempdir())
    assert not folder.exists()
