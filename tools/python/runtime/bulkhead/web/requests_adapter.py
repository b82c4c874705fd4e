"""requests over the host's `http` interface."""

import email.message
import http.client
import io

import requests
import requests.adapters
import requests.utils
import urllib3
import urllib3.connection
from requests import exceptions

from . import connection
from .fetch import FetchError, Invalid, TimedOut, fetch


class _Original:
    """What requests reads cookies from."""

    def __init__(self, headers):
        self.msg = email.message.Message()
        for name, value in headers:
            self.msg[name] = value

    def isclosed(self):
        """The answer is here as a whole."""
        return True

    def close(self):
        """Nothing is held."""


def _send(self, request, stream=False, timeout=None, verify=True, cert=None, proxies=None):
    """In the place of `HTTPAdapter.send`."""
    try:
        answer = fetch(request.method, request.url, request.headers.items(),
                       _body(request.body), _seconds(timeout))
    except TimedOut as error:
        raise exceptions.ReadTimeout(str(error), request=request) from None
    except Invalid as error:
        raise exceptions.InvalidURL(str(error), request=request) from None
    except FetchError as error:
        raise exceptions.ConnectionError(str(error), request=request) from None
    raw = urllib3.HTTPResponse(
        body=io.BytesIO(answer.body),
        headers=urllib3.HTTPHeaderDict(answer.headers),
        status=answer.status,
        reason=http.client.responses.get(answer.status, ""),
        version=11,
        version_string="HTTP/1.1",
        preload_content=False,
        original_response=_Original(answer.headers),
        request_method=request.method,
        request_url=request.url,
        enforce_content_length=False,
    )
    response = self.build_response(request, raw)
    response.url = answer.url
    return response


def _body(body):
    """The whole body in bytes: it may be text, a file, or come in parts."""
    if body is None or isinstance(body, bytes):
        return body
    if isinstance(body, str):
        return body.encode()
    if hasattr(body, "read"):
        return _body(body.read())
    if isinstance(body, (bytearray, memoryview)):
        return bytes(body)
    return b"".join(_body(part) for part in body)


def _seconds(timeout):
    """How long the answer may take: requests has one limit, or one to connect and one to read."""
    if isinstance(timeout, tuple):
        timeout = timeout[-1] if timeout[-1] is not None else timeout[0]
    if timeout is None or isinstance(timeout, (int, float)):
        return timeout
    limit = getattr(timeout, "read_timeout", None)
    return limit if isinstance(limit, (int, float)) else None


def install():
    """Makes requests and urllib3 fetch."""
    requests.adapters.HTTPAdapter.send = _send
    # The host decodes nothing; what need not be packed is cheaper here.
    requests.utils.DEFAULT_ACCEPT_ENCODING = "identity"
    connection.install_urllib3(urllib3.connection)
