import re
import unicodedata


def slugify(title: str) -> str:
    """Make a title fit for an address.

    Args:
        title (str): The title.
    """
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")
