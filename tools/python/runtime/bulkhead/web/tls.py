"""In the place of Python's `ssl`: names that libraries look for. The host speaks TLS itself.

Settings are taken and have no effect: certificates are always checked, by the host.
"""

import enum
import socket as _socket
import sys

HAS_SNI = HAS_ALPN = HAS_TLSv1_2 = HAS_TLSv1_3 = True
HAS_NEVER_CHECK_COMMON_NAME = True
OPENSSL_VERSION = "none: the host speaks TLS"
OPENSSL_VERSION_NUMBER = 0x30000000
OPENSSL_VERSION_INFO = (3, 0, 0, 0, 0)
PROTOCOL_TLS, PROTOCOL_TLS_CLIENT, PROTOCOL_TLS_SERVER = 2, 16, 17
PROTOCOL_SSLv23, PROTOCOL_TLSv1, PROTOCOL_TLSv1_1, PROTOCOL_TLSv1_2 = PROTOCOL_TLS, 3, 4, 5
OP_ALL, OP_NO_SSLv2, OP_NO_SSLv3 = 0x80000054, 0x1000000, 0x2000000
OP_NO_COMPRESSION, OP_NO_TICKET, OP_NO_TLSv1, OP_NO_TLSv1_1 = 0x20000, 0x4000, 0x4000000, 0x10000000
VERIFY_DEFAULT, VERIFY_X509_STRICT, VERIFY_X509_PARTIAL_CHAIN = 0, 0x20, 0x80000


class VerifyMode(enum.IntEnum):
    """Whether certificates are asked for."""

    CERT_NONE = 0
    CERT_OPTIONAL = 1
    CERT_REQUIRED = 2


CERT_NONE, CERT_OPTIONAL, CERT_REQUIRED = VerifyMode


class TLSVersion(enum.IntEnum):
    """Versions of the protocol."""

    MINIMUM_SUPPORTED = -2
    MAXIMUM_SUPPORTED = -1
    SSLv3 = 768
    TLSv1 = 769
    TLSv1_1 = 770
    TLSv1_2 = 771
    TLSv1_3 = 772


class Purpose(enum.Enum):
    """What certificates are for."""

    SERVER_AUTH = "1.3.6.1.5.5.7.3.1"
    CLIENT_AUTH = "1.3.6.1.5.5.7.3.2"


class SSLError(OSError):
    """A failure of TLS."""


class SSLZeroReturnError(SSLError):
    """The connection was closed."""


class SSLWantReadError(SSLError):
    """More must be read."""


class SSLWantWriteError(SSLError):
    """More must be written."""


class SSLSyscallError(SSLError):
    """The system refused."""


class SSLEOFError(SSLError):
    """The connection broke off."""


class SSLCertVerificationError(SSLError, ValueError):
    """A certificate is not good."""


CertificateError = SSLCertVerificationError


class SSLContext:
    """Holds settings; none has an effect."""

    def __init__(self, protocol=PROTOCOL_TLS, *_, **__):
        self.protocol = protocol
        self.check_hostname = True
        self.verify_mode = CERT_REQUIRED
        self.verify_flags = VERIFY_DEFAULT
        self.options = OP_ALL
        self.minimum_version = TLSVersion.MINIMUM_SUPPORTED
        self.maximum_version = TLSVersion.MAXIMUM_SUPPORTED
        self.post_handshake_auth = False
        self.keylog_filename = None

    def _taken(self, *_, **__):
        """Takes a setting."""

    load_verify_locations = load_default_certs = load_cert_chain = _taken
    set_ciphers = set_alpn_protocols = set_default_verify_paths = _taken

    def wrap_socket(self, *_, **__):
        """There are no sockets to wrap."""
        raise PermissionError(
            "Tools run in a sandbox without sockets: for HTTP use requests, httpx or urllib.request"
        )

    wrap_bio = wrap_socket


class SSLSocket(_socket.socket):
    """There are none."""


class SSLObject:
    """There are none."""


class MemoryBIO:
    """There are none."""


def create_default_context(*_, **__):
    """A context."""
    return SSLContext()


_create_unverified_context = _create_default_https_context = create_default_context
_create_stdlib_context = create_default_context


def get_default_verify_paths():
    """There are no certificates here."""
    return None


def install():
    """Makes this module the one that `import ssl` gives."""
    sys.modules["ssl"] = sys.modules[__name__]
