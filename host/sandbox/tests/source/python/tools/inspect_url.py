import ipaddress
from urllib.parse import parse_qs, quote, unquote, urljoin, urlsplit, urlunsplit


def inspect_url(url: str, other: str = "../up?x=1") -> dict:
    """Take an address apart.

    Args:
        url (str): The address.
        other (str): A link on that page.
    """
    parts = urlsplit(url)
    try:
        address = ipaddress.ip_address(parts.hostname)
        kind = "private" if address.is_private else "public"
    except ValueError:
        kind = "name"
    return {
        "host": parts.hostname,
        "port": parts.port,
        "kind": kind,
        "query": parse_qs(parts.query),
        "joined": urljoin(url, other),
        "quoted": quote("a b/ü?"),
        "unquoted": unquote("%C3%BC+"),
        "plain": urlunsplit(parts._replace(query="", fragment="")),
    }
