"""Messages off the wire, whatever stands between them, and the end of the server, whatever it is doing.

A message is a header of lines, a blank line and as many bytes as the header says. Where the header does not say, the
bytes of that message are nobody's: the next header is looked for in them.

Reading has a thread of its own. So `exit` and the end of the input are seen even while the thread that answers is busy;
if that does not end the server in `PATIENCE`, the process ends without it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import BinaryIO, NoReturn

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidRequest, JsonRpcParseError

from autograd_lsp.process.running import is_running
from autograd_lsp.server.protocol import Protocol

logger = logging.getLogger(__name__)

MOST_BYTES = 256_000_000
"""Of one message: a text of a client's is smaller."""
AHEAD = 1_000
"""Messages that are read before they can be handled."""
PATIENCE = 2.0
"""Seconds in which the server may end by itself."""
LOOKS = 2.0
"""Seconds between two looks at whether the client's process is still there."""

_LONGEST_LINE = 65_536
_LENGTH = re.compile(rb"Content-Length:[ \t]*([0-9]{1,12})[ \t]*\r?\n", re.IGNORECASE)
_NO_LENGTH = re.compile(rb"Content-Length", re.IGNORECASE)


class Garbled(Exception):  # noqa: N818  (what was sent is at fault)
    """A header without a length that can be meant."""


def messages(stream: BinaryIO) -> Iterator[bytes | Garbled]:
    """The bodies, in their order, until the input ends."""
    length: int | None = None
    is_garbled = False
    while line := stream.readline(_LONGEST_LINE):
        found = _LENGTH.search(line)
        if found is not None:
            length = int(found[1])
        elif _NO_LENGTH.match(line) is not None:
            is_garbled = True
        if line.strip() or (length is None and not is_garbled):
            continue
        if length is None or length > MOST_BYTES:
            yield Garbled(f"a message of {length:,} bytes" if length else "a header without a length")
        else:
            body = stream.read(length)
            if len(body) < length:
                return
            yield body
        length, is_garbled = None, False


async def converse(stream: BinaryIO, protocol: Protocol) -> int:
    """Handle what comes until the client leaves; the exit code of the process."""
    loop = asyncio.get_running_loop()
    arrived: asyncio.Queue[bytes | Garbled | None] = asyncio.Queue()
    room = threading.BoundedSemaphore(AHEAD)

    def put(message: bytes | Garbled | None) -> None:
        room.acquire()
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(arrived.put_nowait, message)

    def read() -> None:
        try:
            for message in messages(stream):
                if isinstance(message, bytes) and _is_exit(message):
                    _end_later()
                put(message)
        except (OSError, ValueError):
            logger.info("the input was closed")
        _end_later()
        put(None)

    threading.Thread(target=read, name="reader", daemon=True).start()
    while (message := await arrived.get()) is not None:
        room.release()
        try:
            take(message, protocol)
        except SystemExit as end:
            return end.code if isinstance(end.code, int) else 0
        await asyncio.sleep(0)  # whoever sends without a pause does not hold up the answers
    return 0


def take(message: bytes | Garbled, protocol: Protocol) -> None:
    """Handle one message, or tell the client what is wrong with it."""
    if isinstance(message, Garbled):
        protocol.refuse(None, JsonRpcParseError(str(message)))
        return
    try:
        content = json.loads(message, object_hook=protocol.structure_message)
    except JsonRpcException as error:
        logger.warning("a message has other parameters than its method: %s", error)
    except (ValueError, RecursionError) as error:
        protocol.refuse(None, JsonRpcParseError(f"no JSON: {error}"))
    else:
        if isinstance(content, list | dict | str | int | float | None):
            protocol.refuse(None, JsonRpcInvalidRequest("no message of JSON-RPC 2.0"))
        else:
            protocol.handle_message(content)


def end_with(process: int | None) -> None:
    """The client's process is watched: nobody is left to say `exit` when it is gone.

    One that is not there from the start is of another machine, or of another container.
    """
    if process is None or os.name != "posix" or not is_running(process):
        return

    def look() -> None:
        while is_running(process):
            time.sleep(LOOKS)
        leave(1)

    threading.Thread(target=look, name="client", daemon=True).start()


def leave(code: int) -> NoReturn:
    """At once: Python would wait for threads that read, and for whoever holds what is needed for its end."""
    os._exit(code)


def _end_later(end: Callable[[int], NoReturn] = leave) -> None:
    timer = threading.Timer(PATIENCE, end, [1])
    timer.daemon = True
    timer.start()


def _is_exit(body: bytes) -> bool:
    if len(body) > 200 or types.EXIT.encode() not in body:
        return False
    try:
        return bool(json.loads(body)["method"] == types.EXIT)
    except (ValueError, TypeError, KeyError, RecursionError):
        return False
