import json
import urllib.error
import urllib.parse
import urllib.request


def post_note(base_url: str, title: str, tags: List[str]) -> dict:
    """Store a note.

    Args:
        base_url (str): Address of the service.
        title (str): What the note says.
        tags (List[str]): Its tags.
    """
    body = urllib.parse.urlencode({"title": title, "tag": tags}, doseq=True).encode()
    request = urllib.request.Request(f"{base_url}/echo?note=1", data=body, headers={"X-Note": "yes"})
    with urllib.request.urlopen(request, timeout=5) as response:
        echoed = json.load(response)
    try:
        urllib.request.urlopen(f"{base_url}/missing")
    except urllib.error.HTTPError as error:
        missing = f"{error.code} {error.reason}: {error.read().decode()}"
    return {"status": response.status, "echo": echoed, "missing": missing}
