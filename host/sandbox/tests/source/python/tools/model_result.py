from pydantic import BaseModel


class City(BaseModel):
    name: str
    people: int


class Answer(BaseModel):
    cities: List[City]
    total: int


def model_result(names: List[str], people: List[int]) -> Answer:
    """Give a model as the result.

    Args:
        names (List[str]): Names of cities.
        people (List[int]): How many live there.
    """
    cities = [City(name=name, people=count) for name, count in zip(names, people)]
    return Answer(cities=cities, total=sum(people))
