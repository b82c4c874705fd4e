import requests


def fetch_forecast(base_url: str, city: str) -> str:
    """Fetch the forecast of a city.

    Args:
        base_url (str): Address of the service.
        city (str): The city.
    """
    response = requests.get(f"{base_url}/forecast", params={"city": city, "unit": "c"}, timeout=5)
    response.raise_for_status()
    data = response.json()
    return f"{response.headers['Content-Type']}: {data['city']} {data['degrees']} °C, {response.reason}"
