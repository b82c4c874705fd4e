import asyncio


async def _look(city: str, delay: float) -> dict:
    await asyncio.sleep(delay)
    if city == "Atlantis":
        raise LookupError(f"{city} is under water")
    return {"city": city, "degrees": len(city) * 3}


async def gather_weather(cities: List[str]) -> list:
    """Ask for the weather of several cities at the same time.

    Args:
        cities (List[str]): The cities.
    """
    asked = [_look(city, 0.002 * index) for index, city in enumerate(cities)]
    answers = await asyncio.gather(*asked, return_exceptions=True)
    return [answer if isinstance(answer, dict) else f"{type(answer).__name__}: {answer}" for answer in answers]
