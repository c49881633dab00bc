# SPDX-License-Identifier: BSD-3-Clause
"""Families of general sparse matrices, each from a seed, as {(row, column): value} with rows and columns from 0.

    general_families.py NAME [-o FILE]     writes one as a Matrix Market file
    general_families.py                    names them
"""

import argparse
import math
import random
import sys


def neighbours(n, point):
    """The six neighbours of (i, j, k) on n x n x n points, with their directions."""
    for axis in range(3):
        for step in (-1, 1):
            other = list(point)
            other[axis] += step
            if 0 <= other[axis] < n:
                yield axis, step, tuple(other)


def points(n):
    return [(i, j, k) for k in range(n) for j in range(n) for i in range(n)]


def shuffled(entries, rows, seed):
    """The same matrix with rows and columns in a random order."""
    order = list(range(rows))
    random.Random(seed).shuffle(order)
    return {(order[i], order[j]): value for (i, j), value in entries.items()}


def permuted_poisson(n=14):
    number = {point: at for at, point in enumerate(points(n))}
    entries = {}
    for point, row in number.items():
        entries[row, row] = 6.0
        for _, _, other in neighbours(n, point):
            entries[row, number[other]] = -1.0
    return shuffled(entries, n ** 3, 1)


def tetrahedra(n=11):
    """-div(k grad u) + u with P1 elements: the cells of a distorted grid cut into six tetrahedra, nodes in random
    order."""
    draw = random.Random(2)
    number = {point: at for at, point in enumerate(points(n))}
    place = {point: [x + (draw.uniform(-0.25, 0.25) if 0 < x < n - 1 else 0.0) for x in point] for point in number}
    entries = {}
    for corner in points(n - 1):
        for order in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)):
            nodes, at = [corner], list(corner)
            for axis in order:
                at[axis] += 1
                nodes.append(tuple(at))
            add_tetrahedron(entries, [number[node] for node in nodes], [place[node] for node in nodes],
                            10.0 ** draw.uniform(-1, 1))
    return shuffled(entries, n ** 3, 3)


def add_tetrahedron(entries, numbers, corners, coefficient):
    edges = [[corners[v][d] - corners[0][d] for d in range(3)] for v in (1, 2, 3)]
    cross = [[edges[(v + 1) % 3][(d + 1) % 3] * edges[(v + 2) % 3][(d + 2) % 3]
              - edges[(v + 1) % 3][(d + 2) % 3] * edges[(v + 2) % 3][(d + 1) % 3] for d in range(3)] for v in range(3)]
    determinant = sum(edges[0][d] * cross[0][d] for d in range(3))
    gradients = [[value / determinant for value in row] for row in cross]
    gradients.insert(0, [-sum(row[d] for row in gradients) for d in range(3)])
    volume = abs(determinant) / 6.0
    for a in range(4):
        for b in range(4):
            stiffness = coefficient * sum(gradients[a][d] * gradients[b][d] for d in range(3))
            mass = (0.1 if a == b else 0.05)
            key = numbers[a], numbers[b]
            entries[key] = entries.get(key, 0.0) + volume * (stiffness + mass)


def circuit(rows=2500):
    """Conductances between near nodes, controlled sources that are not symmetric, and four supply nodes with long
    rows."""
    draw = random.Random(4)
    entries = {(row, row): 1e-3 for row in range(rows)}

    def add(i, j, value):
        entries[i, j] = entries.get((i, j), 0.0) + value

    def conductance(i, j, value):
        add(i, i, value), add(j, j, value), add(i, j, -value), add(j, i, -value)

    for row in range(4, rows):
        for _ in range(2):
            other = min(rows - 1, max(4, row + draw.choice((-1, 1)) * int(draw.expovariate(0.02)) + 1))
            if other != row:
                conductance(row, other, 10.0 ** draw.uniform(-2, 1))
        if draw.random() < 0.25:
            conductance(row, draw.randrange(4), 10.0 ** draw.uniform(-2, 0))
        if draw.random() < 0.1:
            gate, gain = draw.randrange(4, rows), draw.uniform(0.0, 0.3)
            add(row, gate, -gain), add(row, row, gain)
    return entries


def convection(n=14, peclet=40.0):
    """Upwind differences of a rotating wind, strongly unsymmetric, in random order."""
    number = {point: at for at, point in enumerate(points(n))}
    entries = {}
    for point, row in number.items():
        x, y, z = (2.0 * (p + 1) / (n + 1) - 1.0 for p in point)
        wind = (-y, x, 0.5 * math.sin(3.0 * z))
        diagonal = 0.0
        for axis in range(3):
            speed = peclet * wind[axis] / (n + 1)
            for step, value in ((-1, 1.0 + max(speed, 0.0)), (1, 1.0 + max(-speed, 0.0))):
                diagonal += value
                other = list(point)
                other[axis] += step
                if tuple(other) in number:
                    entries[row, number[tuple(other)]] = -value
        entries[row, row] = diagonal
    return shuffled(entries, n ** 3, 5)


def reservoir(n=9):
    """Three unknowns a cell: flow with a permeability that jumps, and full 3 x 3 blocks; cells in random order."""
    draw = random.Random(6)
    number = {point: at for at, point in enumerate(points(n))}
    permeability = {point: 10.0 ** draw.uniform(-2, 2) for point in number}
    cells = list(range(n ** 3))
    draw.shuffle(cells)
    entries = {}
    for point, cell in number.items():
        own = [[0.0] * 3 for _ in range(3)]
        for axis, _, other in neighbours(n, point):
            a, b = permeability[point], permeability[other]
            flux = 2.0 * a * b / (a + b) * (0.1 if axis == 2 else 1.0)
            mobility = [[flux * (1.0 if r == c else draw.uniform(0.0, 0.3)) for c in range(3)] for r in range(3)]
            for r in range(3):
                for c in range(3):
                    own[r][c] += mobility[r][c]
                    entries[3 * cells[cell] + r, 3 * cells[number[other]] + c] = -mobility[r][c]
        for r in range(3):
            for c in range(3):
                storage = draw.uniform(0.5, 1.5) if r == c else draw.uniform(-0.2, 0.2)
                entries[3 * cells[cell] + r, 3 * cells[cell] + c] = own[r][c] + storage
    return entries


def arrow(rows=1500):
    """A tridiagonal matrix with dense first and last row and column."""
    draw = random.Random(7)
    entries = {}
    for row in range(rows):
        for column in (0, row - 1, row + 1, rows - 1):
            if 0 <= column < rows and column != row:
                entries[row, column] = draw.uniform(-1, 1)
                entries[column, row] = draw.uniform(-1, 1)
    for row in range(rows):
        entries[row, row] = 0.0
    dominant(entries, rows, 0.35)
    return entries


def dominant(entries, rows, share):
    """Diagonals of `share` times the sum of the row's other absolute values, plus 0.5."""
    sums = [0.5] * rows
    for (i, j), value in entries.items():
        if i != j:
            sums[i] += share * abs(value)
    for row in range(rows):
        entries[row, row] = sums[row]


def banded(rows=2500, band=30):
    draw = random.Random(8)
    entries = {}
    for row in range(rows):
        for _ in range(6):
            column = row + draw.randint(-band, band)
            if 0 <= column < rows:
                entries[row, column] = draw.uniform(-1, 1)
    dominant(entries, rows, 0.7)
    return entries


def scattered(rows=2000):
    """An unsymmetric pattern without any structure."""
    draw = random.Random(9)
    entries = {}
    for row in range(rows):
        for _ in range(1 + int(draw.expovariate(0.25))):
            entries[row, draw.randrange(rows)] = draw.uniform(-1, 1)
    dominant(entries, rows, 0.6)
    return entries


def network(rows=2500):
    """The Laplacian of a network that grew by preferential attachment, and a small diagonal: long-tailed rows."""
    draw = random.Random(10)
    ends, entries = [0, 1], {(0, 1): -1.0, (1, 0): -1.0}
    for node in range(2, rows):
        for other in {draw.choice(ends) for _ in range(3)}:
            weight = 10.0 ** draw.uniform(-1, 1)
            entries[node, other] = entries[other, node] = -weight
            ends += [node, other]
    sums = [1e-2] * rows
    for (i, _), value in entries.items():
        sums[i] -= value
    for row in range(rows):
        entries[row, row] = sums[row]
    return entries


def checkers(n=48):
    """Nine-point differences on squares whose coefficient jumps by 10^4, in natural order."""
    entries = {}
    for y in range(n):
        for x in range(n):
            own = 1e4 if (x // 8 + y // 8) % 2 else 1.0
            total = 0.0
            for dy in (-1, 0, 1):
                for dx in (-1, 0, 1):
                    if (dx, dy) == (0, 0):
                        continue
                    i, j = x + dx, y + dy
                    other = (1e4 if (i // 8 + j // 8) % 2 else 1.0) if 0 <= i < n and 0 <= j < n else own
                    value = (4.0 if dx == 0 or dy == 0 else 1.0) * 2.0 * own * other / (own + other)
                    total += value
                    if 0 <= i < n and 0 <= j < n:
                        entries[y * n + x, j * n + i] = -value
            entries[y * n + x, y * n + x] = total
    return entries


FAMILIES = {family.__name__: family for family in (permuted_poisson, tetrahedra, circuit, convection, reservoir, arrow,
                                                   banded, scattered, network, checkers)}


def matrix_market(entries):
    rows = 1 + max(i for i, _ in entries)
    lines = ["%%MatrixMarket matrix coordinate real general", f"{rows} {rows} {len(entries)}"]
    lines += [f"{i + 1} {j + 1} {value!r}" for (i, j), value in sorted(entries.items())]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", choices=sorted(FAMILIES))
    parser.add_argument("-o", "--output")
    options = parser.parse_args()
    if options.name is None:
        print("\n".join(FAMILIES))
        return
    text = matrix_market(FAMILIES[options.name]())
    if options.output:
        with open(options.output, "w", encoding="ascii") as file:
            file.write(text)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
