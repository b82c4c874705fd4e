class LetterCounter:
    """Counts letters."""

    vowels = frozenset("aeiou")

    def __init__(self, text: str):
        self.text = text.lower()

    def __iter__(self):
        return (letter for letter in self.text if letter.isalpha())

    def __len__(self):
        return sum(1 for _ in self)

    @classmethod
    def of(cls, *texts: str) -> "LetterCounter":
        return cls("".join(texts))

    @staticmethod
    def is_vowel(letter: str) -> bool:
        return letter in LetterCounter.vowels


def count_letters(words: List[str], only_vowels: bool = False) -> int:
    """Count the letters of words.

    Args:
        words (List[str]): The words.
        only_vowels (bool): Whether consonants are left out.
    """
    counter = LetterCounter.of(*words)
    return sum(map(counter.is_vowel, counter)) if only_vowels else len(counter)
