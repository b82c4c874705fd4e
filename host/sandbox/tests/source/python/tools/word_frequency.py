from collections import Counter
import string


def word_frequency(text: str, top: int = 5, stop_words: Optional[list] = None) -> list:
    """Count the words of a text.

    Args:
        text (str): The text.
        top (int): How many words to give.
        stop_words (list): Words that do not count.
    """
    table = str.maketrans("", "", string.punctuation)
    words = text.lower().translate(table).split()
    counts = Counter(word for word in words if word not in (stop_words or ()))
    return [(word, count) for word, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:top]]
