"""`autograd/status`, and the command `autograd-lsp.status` that shows it: what the server is, knows and takes."""

from __future__ import annotations

import platform
import sys
from typing import Any

from lsprotocol import types

from autograd_lsp import __version__
from autograd_lsp.environment import Environment, remark_on
from autograd_lsp.process.loading import installed_version
from autograd_lsp.server.app import AutogradServer
from autograd_lsp.server.documents import encoding_of
from autograd_lsp.server.partner import PartnerProcess
from autograd_lsp.server.protocol import STATUS_METHOD

if sys.platform != "win32":
    import resource

COMMAND = "autograd-lsp.status"


def register(server: AutogradServer, environment: Environment | None) -> None:
    @server.feature(STATUS_METHOD)
    def status(_: Any) -> dict[str, Any]:
        return _status(server, environment)

    @server.command(COMMAND)
    def show() -> dict[str, Any]:
        found = _status(server, environment)
        message = types.ShowMessageParams(types.MessageType.Info, status_words(found))
        server.window_show_message(message)
        return found


def _status(server: AutogradServer, environment: Environment | None) -> dict[str, Any]:
    """Sizes are in megabytes, durations in milliseconds."""
    last = [round(1000 * seconds, 1) for seconds in server.durations]
    return {
        "version": __version__,
        "runsOn": {
            "python": platform.python_version(),
            "pygls": installed_version("pygls"),
            "lsprotocol": installed_version("lsprotocol"),
            "platform": sys.platform,
        },
        "folders": server.folders(),
        "environment": {
            "python": environment.python if environment is not None else None,
            "torch": environment.torch if environment is not None else None,
            "isAsking": environment is not None and environment.is_asking,
        },
        "positionEncoding": encoding_of(server.workspace.position_codec),
        "open": {"files": len(list(server.open_documents())), "notebooks": len(server.notebooks)},
        "analysed": {"files": len(server.counts), "findings": sum(server.counts.values())},
        "memory": {"peak": _peak_memory(), "blocks": sys.getallocatedblocks()},
        "secondProcess": _second_process(server),
        "answers": {"last": last[-1] if last else None, "slowest": max(last, default=None), "counted": len(last)},
    }


def _second_process(server: AutogradServer) -> dict[str, Any]:
    """Whether another process makes some of the runs, and which it is."""
    partner = server.host.world.partner
    if not isinstance(partner, PartnerProcess):
        return {"state": "none", "pid": None}
    return {"state": partner.state, "pid": partner.pid}


def status_words(status: dict[str, Any]) -> str:
    opened, analysed, answers = status["open"], status["analysed"], status["answers"]
    python = status["environment"]["python"] or ("searching" if status["environment"]["isAsking"] else "none")
    lines = [
        f"autograd-lsp {status['version']} on Python {status['runsOn']['python']}",
        f"the programs' Python: {python}",
        *([remark] if (remark := remark_on(status["environment"]["torch"])) is not None else []),
        f"open: {opened['files']} files, {opened['notebooks']} notebooks",
        f"analysed: {analysed['files']} files, {analysed['findings']} findings",
    ]
    if status["memory"]["peak"] is not None:
        lines.append(f"memory: {status['memory']['peak']} MB at most")
    if status["secondProcess"]["pid"] is not None:
        lines.append(f"second process: {status['secondProcess']['pid']}, {status['secondProcess']['state']}")
    if answers["counted"]:
        lines.append(
            f"the last answer took {answers['last']} ms, the slowest of {answers['counted']} {answers['slowest']}"
        )
    return "\n".join(lines)


def _peak_memory() -> int | None:
    """The most that was resident; None where the system does not say."""
    if sys.platform == "win32":
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak // 1_000_000 if sys.platform == "darwin" else peak // 1_000)
