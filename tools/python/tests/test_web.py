"""HTTP libraries: their requests reach the host, and its answers and refusals reach the tool."""

import importlib
import sys
import unittest

from tests.host import Err, RuntimeTest

from bulkhead.web import connection

http = sys.modules["wit_world.imports.http"]


def _fetch(request):
    if "deny" in request.url:
        raise Err(http.HttpError_Denied("no grant for deny.test"))
    if "slow" in request.url:
        raise Err(http.HttpError_Timeout())
    if "large" in request.url:
        raise Err(http.HttpError_TooLarge(7))
    body = f"{request.method} {request.url} {request.timeout_ms}".encode() + (request.body or b"")
    return http.Response(201, request.url + "#end", [("X-A", "b"), ("Transfer-Encoding", "chunked")],
                         body)


class WebTest(RuntimeTest):
    @classmethod
    def setUpClass(cls):
        http.fetch = _fetch
        connection.install()

    def _needs(self, library):
        try:
            module = importlib.import_module(f"bulkhead.web.{library}")
        except ImportError as error:
            self.skipTest(str(error))
        module.install()

    def test_http_client(self):
        text = ("import http.client\ndef t():\n    c = http.client.HTTPSConnection('a.test', 444, timeout=2)\n"
                "    c.request('PUT', '/p', body='B')\n    r = c.getresponse()\n"
                "    return [r.status, r.getheader('x-a'), r.read().decode()]\n")
        self.assertEqual(self.value(text), [201, "b", "PUT https://a.test:444/p 2000B"])

    def test_urllib(self):
        text = ("import urllib.request\ndef t(u: str):\n    with urllib.request.urlopen(u, data=b'D') as r:\n"
                "        return [r.status, r.url, r.read().decode()]\n")
        self.assertEqual(self.value(text, u="http://a.test/p"),
                         [201, "http://a.test/p#end", "POST http://a.test/p NoneD"])
        self.assertEqual(self.raised(text, u="https://deny.test").kind, "URLError")
        self.assertIn("no grant for deny.test", self.raised(text, u="https://deny.test").message)
        self.assertIn("7 bytes", self.raised(text, u="https://large.test").message)

    def test_requests(self):
        self._needs("requests_adapter")
        text = ("import requests\ndef t(u: str):\n    r = requests.post(u, data={'a': 1}, timeout=(1, 3))\n"
                "    return [r.status_code, r.url, r.text]\n")
        self.assertEqual(self.value(text, u="https://a.test/p"),
                         [201, "https://a.test/p#end", "POST https://a.test/p 3000a=1"])
        for url, kind in (("deny", "ConnectionError"), ("slow", "ReadTimeout")):
            self.assertEqual(self.raised(text, u=f"https://{url}.test").kind, kind)

    def test_httpx(self):
        self._needs("httpx_transport")
        text = ("import httpx\nasync def t(u: str):\n    async with httpx.AsyncClient(timeout=4) as c:\n"
                "        r = await c.get(u)\n    return [r.status_code, str(r.url), r.text]\n")
        self.assertEqual(self.value(text, "t", u="https://a.test/p"),
                         [201, "https://a.test/p#end", "GET https://a.test/p 4000"])
        for url, kind in (("deny", "ConnectError"), ("slow", "ReadTimeout")):
            self.assertEqual(self.raised(text, "t", u=f"https://{url}.test").kind, kind)


if __name__ == "__main__":
    unittest.main()
