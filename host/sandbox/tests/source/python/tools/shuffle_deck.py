import random


def shuffle_deck(seed: int, hands: int = 2) -> list:
    """Deal cards in an order that a seed decides.

    Args:
        seed (int): The seed.
        hands (int): How many hands.
    """
    rng = random.Random(seed)
    deck = [rank + suit for suit in "♠♥♦♣" for rank in "23456789TJQKA"]
    rng.shuffle(deck)
    dealt = [deck[hand::hands][:5] for hand in range(hands)]
    return [*dealt, rng.randint(1, 100), round(rng.gauss(0, 1), 6), rng.choices("abc", k=3)]
