"""HTTP libraries over the host's `http` interface, which checks every request."""


def install():
    """Changes the libraries where they would open sockets."""
    from . import connection, httpx_transport, requests_adapter

    connection.install()
    requests_adapter.install()
    httpx_transport.install()
