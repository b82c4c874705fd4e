from fractions import Fraction


def scale_recipe(amounts: dict, servings: int, wanted: int) -> dict:
    """Scale the amounts of a recipe.

    Args:
        amounts (dict): Ingredient to amount, for example "1 1/2".
        servings (int): For how many the recipe is.
        wanted (int): For how many it should be.
    """
    def show(value):
        whole, rest = divmod(value, 1)
        return " ".join(str(part) for part in (whole, rest) if part) or "0"

    factor = Fraction(wanted, servings)
    return {name: show(sum(map(Fraction, text.split())) * factor) for name, text in amounts.items()}
