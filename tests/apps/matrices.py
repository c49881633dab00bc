# SPDX-License-Identifier: BSD-3-Clause
"""Matrix files that tests write, and the deck that reads one."""

from program import ProgramTest

DECK = """
[problem]
name = matrix
file = {file}
[solver]
name = gmres
rtol = 1e-9
restart = 200
[preconditioner]
name = sync_free_ilu
"""

SYSTEM = DECK.format(file="a.mtx\nright_hand_side = b.mtx").replace("1e-9", "1e-11")  # with b, to be solved accurately


def coordinate(rows, entries, symmetry="general", columns=None):
    lines = [f"%%MatrixMarket matrix coordinate real {symmetry}", f"{rows} {columns or rows} {len(entries)}"]
    return "\n".join(lines + [f"{i} {j} {v}" for i, j, v in entries]) + "\n"


def array(values):
    return f"%%MatrixMarket matrix array real general\n{len(values)} 1\n" + "".join(f"{v!r}\n" for v in values)


def values_of(path):
    """The values of such an array."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith("%")]
    return [float(line) for line in lines[1:]]


def tridiagonal(rows):
    return [(i, j, 4.0 if i == j else -1.0) for i in range(1, rows + 1) for j in (i - 1, i, i + 1) if 0 < j <= rows]


class MatrixTest(ProgramTest):
    def solve(self, file, *settings, code=0):
        deck = self.write("a.ini", DECK.format(file=file))
        return self.run_json(code, "run", deck, *(word for setting in settings for word in ("--set", setting)))

    def refused(self, code, text, says, *settings, solver="gmres"):
        self.write("a.mtx", text)
        deck = DECK if solver == "gmres" else DECK.replace("restart = 200\n", "").replace("gmres", solver)
        deck = self.write("a.ini", deck.format(file="a.mtx"))
        self.expect(code, "run", deck, *(word for s in settings for word in ("--set", s)), says=says)
