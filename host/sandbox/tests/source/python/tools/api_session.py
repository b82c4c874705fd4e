import requests


def api_session(base_url: str, token: str) -> dict:
    """Use an API with a session.

    Args:
        base_url (str): Address of the API.
        token (str): The token.
    """
    with requests.Session() as session:
        session.headers.update({"Authorization": f"Bearer {token}", "X-Session": "s1"})
        put = session.put(f"{base_url}/echo", json={"a": [1, None, "ü"]}, timeout=5)
        failing = session.get(f"{base_url}/broken", timeout=5)
        moved = session.get(f"{base_url}/moved", timeout=5)
    try:
        failing.raise_for_status()
    except requests.HTTPError as error:
        failed = str(error).partition(" for url")[0]
    return {"put": put.json(), "ok": failing.ok, "failed": failed, "moved": [moved.url.removeprefix(base_url), moved.text]}
