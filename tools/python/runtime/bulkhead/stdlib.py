"""The standard library, imported before the snapshot: afterwards its files are not there."""

import encodings
import importlib
import pkgutil
import sys

_SKIPPED = {
    # Open a browser, print a poem, or need a screen.
    "antigravity", "this", "idlelib", "turtle", "turtledemo", "tkinter",
    # Tests and installers.
    "test", "ensurepip", "venv", "lib2to3", "pip",
    # Of other systems.
    "_android_support", "_apple_support", "_ios_support", "_osx_support", "_aix_support",
    # Interactive.
    "_pyrepl", "pdb", "bdb",
    # In the place of it stands `web.tls`.
    "ssl",
}
_SUBMODULES = (
    "collections.abc", "concurrent.futures", "concurrent.futures.thread",
    "concurrent.futures.process", "dbm.dumb", "email.mime.application", "email.mime.audio",
    "email.mime.base", "email.mime.image", "email.mime.message", "email.mime.multipart",
    "email.mime.nonmultipart", "email.mime.text", "encodings.idna", "html.entities", "html.parser",
    "http.client", "http.cookiejar", "http.cookies", "http.server", "importlib.abc",
    "importlib.machinery", "importlib.metadata", "importlib.resources", "importlib.resources.abc",
    "importlib.util", "json.decoder", "json.encoder", "json.scanner", "json.tool",
    "logging.config", "logging.handlers", "multiprocessing.connection", "multiprocessing.context",
    "multiprocessing.dummy", "multiprocessing.managers", "multiprocessing.pool",
    "multiprocessing.process", "multiprocessing.queues", "multiprocessing.shared_memory",
    "multiprocessing.synchronize", "os.path", "sqlite3.dbapi2", "sqlite3.dump", "sysconfig",
    "unittest.case", "unittest.loader", "unittest.mock", "unittest.result", "unittest.runner",
    "unittest.suite", "urllib.error", "urllib.parse", "urllib.request", "urllib.response",
    "urllib.robotparser", "wsgiref.headers", "wsgiref.simple_server", "wsgiref.util",
    "wsgiref.validate", "xml.dom", "xml.dom.expatbuilder", "xml.dom.minicompat",
    "xml.dom.minidom", "xml.dom.pulldom", "xml.dom.xmlbuilder", "xml.etree.ElementInclude",
    "xml.etree.ElementPath", "xml.etree.ElementTree", "xml.etree.cElementTree",
    "xml.parsers.expat", "xml.sax", "xml.sax.expatreader", "xml.sax.handler", "xml.sax.saxutils",
    "xml.sax.xmlreader", "xmlrpc.client", "zipfile._path", "zoneinfo._common", "zoneinfo._tzpath",
    "_strptime", "_pydatetime", "_pydecimal", "_pyio",
)
_PACKAGES = (
    "email", "encodings", "asyncio", "ctypes", "importlib", "importlib.metadata",
    "importlib.resources", "json", "re", "string", "zipfile._path", "zoneinfo",
)


def load():
    """Imports whatever of the standard library can be imported here."""
    names = [name for name in sorted(sys.stdlib_module_names) if name not in _SKIPPED]
    for name in (*names, *_SUBMODULES):
        _try(name)
    for package in _PACKAGES:
        module = sys.modules.get(package)
        for found in pkgutil.iter_modules(getattr(module, "__path__", ())):
            if found.name not in ("__main__", "mbcs", "oem", "windows_events", "windows_utils"):
                _try(f"{package}.{found.name}")
    # The search function looks for files; each codec is asked for once, so that it is known.
    for found in pkgutil.iter_modules(encodings.__path__):
        encodings.search_function(found.name)


def _try(name):
    """Imports a module if this system has what it needs."""
    try:
        importlib.import_module(name)
    except (ImportError, AttributeError, AssertionError, OSError):
        # Part of the module may be loaded by now; a later import must fail as a whole.
        if name in sys.modules and name not in sys.builtin_module_names:
            del sys.modules[name]
