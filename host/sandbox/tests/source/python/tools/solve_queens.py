def solve_queens(size: int) -> dict:
    """Place queens on a board so that none threatens another.

    Args:
        size (int): Rows and columns of the board.
    """
    solutions = []

    def place(row, columns, up, down, queens):
        if row == size:
            solutions.append(queens)
            return
        for column in range(size):
            if column not in columns and row + column not in up and row - column not in down:
                place(row + 1, columns | {column}, up | {row + column}, down | {row - column}, [*queens, column])

    place(0, frozenset(), frozenset(), frozenset(), [])
    board = "\n".join("." * column + "Q" + "." * (size - column - 1) for column in solutions[0])
    return {"count": len(solutions), "first": board}
