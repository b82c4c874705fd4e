def is_balanced(text: str) -> bool:
    """Say whether brackets are closed in the right order.

    Args:
        text (str): The text.
    """
    pairs, stack = {")": "(", "]": "[", "}": "{"}, []
    for letter in text:
        if letter in pairs.values():
            stack.append(letter)
        elif letter in pairs and (not stack or stack.pop() != pairs[letter]):
            return False
    return not stack
