import requests


def fetch_or_raise(base_url: str) -> str:
    """Fetch what is not there.

    Args:
        base_url (str): Address of the site.
    """
    response = requests.get(f"{base_url}/missing", timeout=5)
    if response.status_code != 200:
        raise RuntimeError(f"the site answered {response.status_code}: {response.text}")
    return response.text
