"""Clear errors for what a sandbox does not have: processes, threads, sockets, native code.

The sandbox itself is not made here: none of these would work anyway. What is made here is a text
that says what to do instead.
"""

import builtins
import concurrent.futures
import concurrent.futures.thread
import importlib.abc
import multiprocessing
import multiprocessing.context
import multiprocessing.process
import os
import socket
import subprocess
import sys
import threading

_SANDBOX = "Tools run in a sandbox"
_NO_PROCESS = f"{_SANDBOX} without other processes: do the work in Python"
_NO_SOCKET = f"{_SANDBOX} without sockets: for HTTP use requests, httpx or urllib.request"
_NO_THREAD = (
    f"{_SANDBOX} with one thread: call the function directly, or use asyncio for waiting side by side"
)
_NO_FOREIGN = f"{_SANDBOX} without native code: use a pure Python package"

_MODULES = {
    "ctypes": _NO_FOREIGN, "_ctypes": _NO_FOREIGN, "cffi": _NO_FOREIGN,
    "_posixsubprocess": _NO_PROCESS, "pty": _NO_PROCESS, "fcntl": f"{_SANDBOX} without file locks",
    "mmap": f"{_SANDBOX} without memory-mapped files", "tkinter": f"{_SANDBOX} without a screen",
    "curses": f"{_SANDBOX} without a terminal", "readline": f"{_SANDBOX} without a terminal",
    "termios": f"{_SANDBOX} without a terminal",
}


MAX_RECURSION = 3_000
"""What nests deeper than this can overflow the stack of the machine when it is taken apart."""


class _Finder(importlib.abc.MetaPathFinder):
    """Stands last: what it is asked for was found nowhere."""

    def find_spec(self, fullname, path=None, target=None):
        """Says why the module is missing and what helps."""
        top = fullname.partition(".")[0]
        if fullname != top and top in sys.modules:
            return None
        if top in _MODULES:
            text = f"No module named {fullname!r}. {_MODULES[top]}."
        elif top in sys.stdlib_module_names:
            text = f"No module named {fullname!r}. This part of the standard library is not here."
        else:
            text = (
                f"No module named {fullname!r}. If it is a package written in Python alone, add it "
                "to the tool's pip_requirements."
            )
        raise ModuleNotFoundError(text, name=fullname)


class _InPlaceExecutor(concurrent.futures.Executor):
    """Runs what is submitted at once, one after the other: results are those of threads."""

    def __init__(self, max_workers=None, *_, **__):
        if max_workers is not None and max_workers <= 0:
            raise ValueError("max_workers must be greater than 0")
        self._closed = False

    def submit(self, fn, /, *args, **kwargs):
        """Calls the function and gives a future that is done."""
        if self._closed:
            raise RuntimeError("cannot schedule new futures after shutdown")
        future = concurrent.futures.Future()
        future.set_running_or_notify_cancel()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future

    def shutdown(self, wait=True, *, cancel_futures=False):
        """Takes no more work."""
        self._closed = True


def _refuse(error, text):
    def refused(*_, **__):
        raise error(text)

    return refused


def _input(prompt="", /):
    raise EOFError(
        f"{_SANDBOX} without a keyboard: make what input() asks for a parameter of the tool"
    )


def install():
    """Puts the clear errors in place."""
    sys.meta_path.append(_Finder())
    _refuse_processes()
    _refuse_sockets()
    threading.Thread.start = _refuse(RuntimeError, _NO_THREAD)
    concurrent.futures.ThreadPoolExecutor = _InPlaceExecutor
    concurrent.futures.thread.ThreadPoolExecutor = _InPlaceExecutor
    _bound_recursion()
    builtins.input = _input
    builtins.exit = builtins.quit = sys.exit


def _bound_recursion():
    """A limit beyond reason is set to the highest that still ends in a `RecursionError`."""
    original = sys.setrecursionlimit

    def setrecursionlimit(limit, /):
        original(min(limit, MAX_RECURSION))

    sys.setrecursionlimit = setrecursionlimit


def _refuse_processes():
    refused = _refuse(PermissionError, _NO_PROCESS)
    subprocess.Popen.__init__ = refused
    subprocess.Popen.__del__ = lambda self: None
    for name in ("system", "popen", "fork", "forkpty", "posix_spawn", "posix_spawnp", "startfile"):
        setattr(os, name, refused)
    for name in dir(os):
        if name.startswith(("exec", "spawn")):
            setattr(os, name, refused)
    concurrent.futures.ProcessPoolExecutor = _refuse(PermissionError, _NO_PROCESS)
    multiprocessing.process.BaseProcess.start = refused
    context = multiprocessing.context.BaseContext
    for name in ("Pool", "Manager", "Queue", "Pipe", "Lock", "Value", "Array"):
        setattr(context, name, refused)
        setattr(multiprocessing, name, refused)


def _refuse_sockets():
    refused = _refuse(PermissionError, _NO_SOCKET)
    socket.socket.__init__ = refused
    socket.socket.__del__ = lambda self: None
    for name in ("create_connection", "create_server", "getaddrinfo", "gethostbyname", "socketpair",
                 "gethostbyname_ex", "gethostbyaddr", "fromfd"):
        setattr(socket, name, refused)
