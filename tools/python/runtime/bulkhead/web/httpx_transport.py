"""httpx over the host's `http` interface, with and without `async`."""

import http.client

import httpx
import httpx._client

from .fetch import FetchError, Invalid, TimedOut, fetch


def _send(request, body):
    limits = request.extensions.get("timeout") or {}
    try:
        answer = fetch(request.method, request.url, request.headers.multi_items(), body,
                       limits.get("read") or limits.get("connect"))
    except TimedOut as error:
        raise httpx.ReadTimeout(str(error), request=request) from None
    except Invalid as error:
        raise httpx.UnsupportedProtocol(str(error), request=request) from None
    except FetchError as error:
        raise httpx.ConnectError(str(error), request=request) from None
    # httpx reads the final address from here: the host followed the redirects.
    request.url = httpx.URL(answer.url)
    reason = http.client.responses.get(answer.status, "").encode()
    return httpx.Response(
        answer.status,
        headers=answer.headers,
        stream=httpx.ByteStream(answer.body),
        extensions={"http_version": b"HTTP/1.1", "reason_phrase": reason},
        request=request,
    )


class Transport(httpx.BaseTransport):
    """In the place of `httpx.HTTPTransport`."""

    def __init__(self, *_, **__):
        """Takes settings of connections; connections are the host's."""

    def handle_request(self, request):
        """The answer to a request."""
        return _send(request, request.read())


class AsyncTransport(httpx.AsyncBaseTransport):
    """In the place of `httpx.AsyncHTTPTransport`."""

    def __init__(self, *_, **__):
        """Takes settings of connections; connections are the host's."""

    async def handle_async_request(self, request):
        """The answer to a request."""
        return _send(request, await request.aread())


def install():
    """Makes httpx fetch."""
    httpx.HTTPTransport = httpx._client.HTTPTransport = Transport
    httpx.AsyncHTTPTransport = httpx._client.AsyncHTTPTransport = AsyncTransport
    # The host decodes nothing; what need not be packed is cheaper here.
    httpx._client.ACCEPT_ENCODING = "identity"
