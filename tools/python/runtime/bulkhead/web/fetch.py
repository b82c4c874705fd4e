"""One request through the host's `http` interface."""

from componentize_py_types import Err
from wit_world.imports import http

from ..results import clean

# The host writes these itself, from the address and the body.
_HOSTS_OWN = {
    "host", "content-length", "transfer-encoding", "connection", "keep-alive", "te", "trailer",
    "upgrade", "proxy-connection", "proxy-authorization",
}
# They describe how the body travelled; it is here as a whole.
_OF_THE_WAY = {"transfer-encoding", "connection", "keep-alive", "trailer", "upgrade"}
_MILLISECONDS = range(1, 1 << 32)


class FetchError(OSError):
    """The request got no answer."""


class Denied(FetchError, PermissionError):
    """No grant allows the request; the text names the grant that is missing."""


class Invalid(FetchError):
    """The request is malformed."""


class TimedOut(FetchError, TimeoutError):
    """The answer took too long."""


class TooLarge(FetchError):
    """The answer is larger than the call may receive."""


class Failed(FetchError, ConnectionError):
    """The connection or the server failed."""


def fetch(method, url, headers, body=None, timeout=None):
    """The answer to a request: status, final address, headers, body; raises `FetchError`."""
    given = [(str(name), str(value)) for name, value in headers
             if str(name).lower() not in _HOSTS_OWN]
    if not any(name.lower() == "accept-encoding" for name, _ in given):
        given.append(("accept-encoding", "identity"))
    request = http.Request(
        str(method).upper(), clean(str(url)), given, body or None, _milliseconds(timeout), None
    )
    try:
        answer = http.fetch(request)
    except Err as error:
        raise _failure(error.value, url) from None
    answer.headers = [(name, value) for name, value in answer.headers
                      if name.lower() not in _OF_THE_WAY]
    return answer


def _milliseconds(seconds):
    if seconds is None:
        return None
    return min(max(int(seconds * 1000), _MILLISECONDS.start), _MILLISECONDS.stop - 1)


def _failure(error, url):
    if isinstance(error, (http.HttpError_Denied, http.HttpError_Unauthorized)):
        return Denied(error.value)
    if isinstance(error, http.HttpError_Invalid):
        return Invalid(error.value)
    if isinstance(error, http.HttpError_Timeout):
        return TimedOut(f"no answer from {url} in time")
    if isinstance(error, http.HttpError_TooLarge):
        return TooLarge(
            f"the answer from {url} is larger than {error.value} bytes, all that this call may "
            "still receive"
        )
    return Failed(error.value.message)
