"""The JSON-RPC layer of pygls, with the answers that pygls does not give.

A client must get one answer to each request, whatever it sent, and an answer must not carry our stack traces.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import attrs
from lsprotocol import types
from pygls.exceptions import (
    JsonRpcContentModified,
    JsonRpcException,
    JsonRpcInvalidRequest,
    JsonRpcServerNotInitialized,
)
from pygls.protocol import LanguageServerProtocol

GRAPH_METHOD = "autograd/graph"
STATUS_METHOD = "autograd/status"


@attrs.define
class GraphRequest:
    """`autograd/graph`, so that its parameters are checked like those of the standard requests."""

    id: int | str
    params: types.TextDocumentPositionParams
    method: str
    jsonrpc: str


@attrs.define
class StatusRequest:
    """`autograd/status`, which has no parameters."""

    id: int | str
    method: str
    jsonrpc: str
    params: Any = None


_OURS: dict[str, type[Any]] = {GRAPH_METHOD: GraphRequest, STATUS_METHOD: StatusRequest}


class Protocol(LanguageServerProtocol):
    is_initialized = False

    def handle_message(self, message: Any) -> None:
        """A request comes between `initialize` and `shutdown`, or is refused; a notification is then dropped."""
        method = getattr(message, "method", None)
        refused: JsonRpcException | None = None
        if method == types.INITIALIZE and not self.is_initialized:
            self.is_initialized = True
        elif method == types.INITIALIZE:
            refused = JsonRpcInvalidRequest("the server is initialized")
        elif method is not None and method != types.EXIT and not self.is_initialized:
            refused = JsonRpcServerNotInitialized("the first request is `initialize`")
        elif method is not None and method != types.EXIT and self._shutdown:
            refused = JsonRpcInvalidRequest("the server is shutting down")
        if method == types.SHUTDOWN and refused is None:
            self._cancel_all()
        if refused is None:
            super().handle_message(message)
        elif (number := getattr(message, "id", None)) is not None:
            self.refuse(number, refused)

    def refuse(self, number: int | str | None, error: JsonRpcException) -> None:
        """None for a message whose number cannot be read."""
        answer = types.ResponseErrorMessage(id=number, error=error.to_response_error())
        self._send_data({"id": None, **self._converter.unstructure(answer)})

    def get_message_type(self, method: str) -> type[Any] | None:  # type: ignore[override]  # pygls has a cached one
        return _OURS.get(method) or types.METHOD_TO_TYPES.get(method, (None,))[0]

    def structure_message(self, data: dict[str, Any]) -> Any:
        """pygls drops a request whose parameters do not parse, and the client waits for ever."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "jsonrpc" in data and "id" in data and "method" in data:
                self._send_response(data["id"], error=error.to_response_error())
            raise

    def _cancel_all(self) -> None:
        """pygls does so too, over the table from which each takes itself as it ends."""
        for number, future in list(self._request_futures.items()):
            future.cancel()
            self._request_futures.pop(number, None)

    def _handle_response(
        self, msg_id: int | str, result: Any | None = None, error: types.ResponseError | None = None
    ) -> None:
        """pygls fails on the answer to a request of ours that was cancelled meanwhile."""
        future = self._request_futures.get(msg_id)
        if future is not None and future.done():
            del self._request_futures[msg_id]
            return
        super()._handle_response(msg_id, result, error)

    def _execute_handler(
        self,
        msg_id: int | str,
        handler: Callable[..., Any],
        callback: Callable[[Future[Any]], None],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> None:
        """pygls keeps what has become of every notification, for good: of each key pressed."""

        def done(future: Future[Any]) -> None:
            self._request_futures.pop(msg_id, None)
            callback(future)

        super()._execute_handler(msg_id, handler, done, args, kwargs)

    def _send_handler_result(self, future: Future[Any], *, msg_id: int | str) -> None:
        """That a document changed under a request is everyday, and not worth the traceback that pygls would log."""
        if not future.cancelled() and isinstance(stale := future.exception(), JsonRpcContentModified):
            self._send_response(msg_id, error=stale.to_response_error())
            return
        super()._send_handler_result(future, msg_id=msg_id)

    def _send_response(
        self, msg_id: int | str, result: Any | None = None, error: types.ResponseError | None = None
    ) -> None:
        if error is not None and isinstance(error.data, dict):
            error.data.pop("traceback", None)
        super()._send_response(msg_id, result, error)
