"""Notes what a Python process does, from its start on, for a test that puts this folder into `PYTHONPATH`.

A line is an event of `sys.audit` and what it is about: code that is run, a library that is loaded, a process that is
started, an address that is asked for or connected to, a file that is written.
"""

import os
import sys

_LOG = os.open(os.environ["AUDIT_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_PROCESSES = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn")


def _note(event: str, *about: object) -> None:
    text = " ".join(str(one).replace("\n", " ") for one in (event, *about))
    os.write(_LOG, (text + "\n").encode("utf-8", "backslashreplace"))


def _hook(event: str, arguments: tuple) -> None:
    if event == "exec":
        _note("run", getattr(arguments[0], "co_filename", "?"))
    elif event == "import" and arguments[1] is not None:
        _note("load", arguments[1])
    elif event == "ctypes.dlopen":
        _note("load", arguments[0])
    elif event in _PROCESSES:
        _note("start", *(arguments[1] if event == "subprocess.Popen" else arguments[:2]))
    elif event.startswith(("socket.connect", "socket.bind", "socket.getaddrinfo", "socket.sendto", "urllib.")):
        _note("network", event, arguments[-1])
    elif event == "open" and not isinstance(arguments[0], int) and arguments[2] & _WRITING:
        _note("write", arguments[0])


sys.addaudithook(_hook)
