"""`http.client` without sockets: a connection that collects the request and fetches the answer.

`urllib.request` and urllib3 are built on it, so they work too.
"""

import http.client
import io
import urllib.error
import urllib.request

from .fetch import FetchError, TimedOut, fetch


class FetchSocket:
    """Has of a socket what `http.client` uses."""

    def __init__(self, scheme, host, port, timeout):
        default = {"http": 80, "https": 443}[scheme]
        self._origin = f"{scheme}://{_bracketed(host)}" + (f":{port}" if port != default else "")
        self._timeout = timeout if isinstance(timeout, (int, float)) else None
        self._sent = []
        self.url = None

    def sendall(self, data):
        """Collects a part of the request."""
        self._sent.append(bytes(data))

    def makefile(self, *_, **__):
        """Sends the request and gives the answer as it would come over the wire."""
        head, _, rest = b"".join(self._sent).partition(b"\r\n\r\n")
        self._sent = []
        first, *lines = head.decode("latin-1").split("\r\n")
        method, target, _ = first.split(" ", 2)
        headers = [(name, value.strip()) for name, _, value in
                   (line.partition(":") for line in lines)]
        if any(name.lower() == "transfer-encoding" for name, _ in headers):
            rest = _joined(rest)
        url = target if target.startswith(("http://", "https://")) else self._origin + target
        answer = fetch(method, url, headers, rest, self._timeout)
        self.url = answer.url
        return io.BytesIO(_on_the_wire(answer, method))

    def settimeout(self, timeout):
        """Sets how long the answer may take."""
        self._timeout = timeout

    def setsockopt(self, *_):
        """There is no socket to set options of."""

    def close(self):
        """Nothing is held."""

    shutdown = setsockopt


def _bracketed(host):
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def _joined(body):
    """The body out of its chunks."""
    stream, parts = io.BytesIO(body), []
    while size := int(stream.readline().split(b";")[0] or b"0", 16):
        parts.append(stream.read(size))
        stream.readline()
    return b"".join(parts)


def _on_the_wire(answer, method):
    reason = http.client.responses.get(answer.status, "Unknown")
    lines = [f"HTTP/1.1 {answer.status} {reason}"]
    is_head = method.upper() == "HEAD"
    lines += [f"{name}: {value}" for name, value in answer.headers
              if is_head or name.lower() != "content-length"]
    if not is_head:
        lines.append(f"content-length: {len(answer.body)}")
    lines.append("connection: close")
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace") + answer.body


class Response(http.client.HTTPResponse):
    """Remembers where the answer came from."""

    def __init__(self, sock, *positional, **named):
        super().__init__(sock, *positional, **named)
        self.fetched = sock


def _connector(scheme):
    def connect(self):
        self.sock = FetchSocket(scheme, self.host, self.port, self.timeout)
        # What urllib3 asks about the connection; the host checked the certificate.
        self.is_verified = True
        self.proxy_is_verified = None
        self._has_connected_to_proxy = False

    return connect


def install():
    """Makes connections fetch."""
    http.client.HTTPConnection.connect = _connector("http")
    http.client.HTTPConnection.response_class = Response
    http.client.HTTPSConnection.connect = _connector("https")
    _change_urllib()


def install_urllib3(connections):
    """The same for urllib3's connections, which bring methods of their own."""
    connections.HTTPConnection.connect = _connector("http")
    connections.HTTPSConnection.connect = _connector("https")


def _change_urllib():
    """Answers of urllib.request say where they came from: the host followed the redirects."""
    handler = urllib.request.AbstractHTTPHandler
    original = handler.do_open

    def do_open(self, http_class, req, **arguments):
        try:
            response = original(self, http_class, req, **arguments)
        except TimedOut:
            raise
        except FetchError as error:
            raise urllib.error.URLError(error) from None
        response.url = getattr(getattr(response, "fetched", None), "url", None) or response.url
        return response

    handler.do_open = do_open
