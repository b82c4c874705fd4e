"""In the place of certifi: the host checks certificates, so there is no bundle here."""

__version__ = "0"


def where():
    """A path for libraries that ask for one; nothing reads it."""
    return "/dev/null"


def contents():
    """No certificates."""
    return ""
