# SPDX-License-Identifier: BSD-3-Clause
"""Decks and matrix files with changed bytes, and hostile names."""

import pathlib

from program import DECK

INPUTS = pathlib.Path(__file__).resolve().parents[2] / "inputs"
MATRIX = ("%%MatrixMarket matrix coordinate real symmetric\n4 4 7\n1 1 4\n2 2 4\n3 3 4\n4 4 4\n2 1 -1\n3 2 -1\n4 3 -1\n")
NAMES = ["a b", "a;touch x", "$(touch x)", "`touch x`", "-rf", "--set", "a'b", 'a"b', "a\\b", "%s%n%d", "#a", "a=b", "a,b",
         "[a]", "{0}", "~", "*", "?", "a&b", "a|b", "a>b", "\t", "\x01", "\x7f", "ä", "日本", "é" * 60, "a" * 200, "..a", "a.."]


def change(content, choose):
    changed = bytearray(content)
    for _ in range(choose.randrange(1, 8)):
        at = choose.randrange(len(changed) + 1)
        kind = choose.randrange(4)
        if kind == 0 and changed:
            changed[at % len(changed)] = choose.randrange(256)
        elif kind == 1:
            changed[at:at] = bytes([choose.choice(b"[]=;#\"\n0123456789eE+-. %\0\xff")]) * choose.choice((1, 1, 1, 40))
        elif kind == 2:
            del changed[at : at + choose.randrange(1, 9)]
        else:
            begin = choose.randrange(len(changed) + 1)
            changed[at:at] = changed[begin : begin + 20]
    return bytes(changed)


def changed_decks(program, count, choose):
    decks = [deck.read_bytes() for deck in sorted(INPUTS.glob("*.ini"))]
    for _ in range(count):
        (program.folder / "a.ini").write_bytes(change(choose.choice(decks), choose))
        yield program.judge(("check", "a.ini"), (0, 2, 6, 7, 9))


def changed_matrices(program, count, choose):
    program.write("a.ini", "[problem]\nname = matrix_market\nmatrix = a.mtx\n[grid]\ncells = 4 1 1\n")
    for _ in range(count):
        (program.folder / "a.mtx").write_bytes(change(MATRIX.encode(), choose))
        yield program.judge(("check", "a.ini"), (0, 2, 6, 7))


def hostile_names(program, count, choose):
    for name in choose.sample(NAMES, min(count, len(NAMES))):
        deck = name + ".ini"
        program.write(deck, DECK)
        before = {path.name for path in program.folder.iterdir()}
        outcome, complaint = program.judge(("run", "./" + deck, "--quiet"), (0, 7))
        made = {path.name for path in program.folder.iterdir()} - before
        if made - {name + ".h5", name + ".lock"}:
            complaint = f"{deck!r} made {made}"
        yield outcome, complaint
