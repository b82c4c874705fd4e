import re

EMAIL = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]*\w")
PHONE = re.compile(r"(?<!\d)(?:\+(?P<country>\d{1,3})[ -]?)?(?P<rest>\(?\d{2,4}\)?(?:[ -]?\d{2,4}){2,3})(?!\d)")


def extract_contacts(text: str) -> dict:
    """Find e-mail addresses and phone numbers in a text.

    Args:
        text (str): The text to search.

    Returns:
        dict: Lists of addresses and of numbers, each once, in the order of the text.
    """
    emails = list(dict.fromkeys(EMAIL.findall(text)))
    without = EMAIL.sub(" ", text)
    phones = [
        {"country": match["country"], "digits": re.sub(r"\D", "", match["rest"])}
        for match in PHONE.finditer(without)
    ]
    return {"emails": emails, "phones": phones}
