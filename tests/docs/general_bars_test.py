# SPDX-License-Identifier: BSD-3-Clause
"""docs/results/general.md: its tables beside cuSPARSE are those that docs/results/general_bars.py makes of the files."""

import json
import pathlib
import tempfile
import unittest

from scripts import module_of

RESULTS = pathlib.Path(__file__).resolve().parents[2] / "docs/results"
FOLDER = RESULTS / "general"
PAGE = (RESULTS / "general.md").read_text(encoding="utf-8")
BARS = module_of(RESULTS / "general_bars.py")


def row(name, numeric, solve, whole=None, analysis=None):
    made = {"preconditioner": name, "setup": {"median": numeric}, "apply": {"median": solve}, "error": 1e-15,
            "whole_setup": {"median": whole or 1.0}}
    return {**made, "analysis": analysis} if analysis is not None else made


class GeneralBars(unittest.TestCase):
    def test_page_is_what_the_script_prints(self):
        made = {**BARS.tables(BARS.read(FOLDER)), **BARS.published_tables(BARS.read_published(FOLDER)),
                **BARS.parts_tables(FOLDER), **BARS.structure_table(FOLDER)}
        for name, table in made.items():
            self.assertIn(table, PAGE, name)

    def test_files_are_of_commits_and_cards_of_the_page(self):
        for path in FOLDER.glob("*.json"):
            data = json.loads(path.read_text(encoding="utf-8"))
            self.assertIn(data["git_sha"][:7], PAGE, path.name)
            self.assertNotIn("dirty", data["git_sha"], path.name)
            self.assertIn(data["device"], " ".join(PAGE.split()), path.name)

    def test_each_of_cusparses_figures_is_its_best(self):
        rows = [row("sync_free_ilu", 2e-3, 1e-3, whole=10e-3), row("sync_free_ilu:variant=table", 1.8e-3, 1e-3),
                row("cusparse_ilu", 6e-3, 3e-3, analysis=40e-3),
                row("cusparse_ilu:format=bsr:level_information=false", 4e-3, 5e-3, analysis=46e-3),
                {"preconditioner": "cusparse_ilu:format=bsr", "refused": "no"}]
        with tempfile.TemporaryDirectory() as scratch:
            for order, factor in (("rcm", 1.0), ("natural", 4.0)):
                changed = json.loads(json.dumps(rows))
                changed[0]["setup"]["median"] /= factor
                path = pathlib.Path(scratch) / f"general-a-96-{order}.json"
                path.write_text(json.dumps({"systems": [{"preconditioners": changed}]}), encoding="utf-8")
            made = BARS.tables(BARS.read(scratch))
        natural, rcm, mean = made["numeric part"].splitlines()[2:]
        self.assertEqual(natural, "| a-96 | natural | 0.50 | 4.00 (BSR, no levels) | 8.00 |")
        self.assertEqual(rcm, "| a-96 | rcm | 2.00 | 4.00 (BSR, no levels) | 2.00 |")
        self.assertEqual(mean, "| geometric mean |  |  |  | **4.00** |")
        self.assertIn("| a-96 | rcm | 10.0 | 46.0 (CSR) | 4.60 |", made["with analysis"])
        self.assertIn("| a-96 | rcm | 1.00 | 3.00 (CSR) | 3.00 |", made["solve"])
        self.assertIn("| a-96 | rcm | 2.00 | variant=table | 1.80 | 1.11 |", made["variants"])
        self.assertIn("| a-96 | natural | 0.50 | auto | 0.50 | 1.00 |", made["variants"])

    def test_parts_are_compared_with_cusparses_best(self):
        rows = [row("subdomain_ildu0", 2e-3, 0.5e-3, whole=0.1), row("cusparse_ilu", 6e-3, 3e-3, analysis=40e-3),
                row("cusparse_ilu:format=bsr", 4e-3, 5e-3, analysis=46e-3)]
        with tempfile.TemporaryDirectory() as scratch:
            (pathlib.Path(scratch) / "parts-a-96.json").write_text(json.dumps({"systems": [{"preconditioners": rows}]}))
            made = BARS.parts_tables(scratch)["parts-a-96"].splitlines()[2:]
        self.assertEqual(made, ["| `subdomain_ildu0` | 0.50 | 6.00 | 2.00 | 2.00 | 100 | 0.46 |",
                                "| `cusparse_ilu` | 3.00 | 1.00 | 6.00 | 0.67 | 46.0 | 1.00 |",
                                "| `cusparse_ilu:format=bsr` | 5.00 | 0.60 | 4.00 | 1.00 | 50.0 | 0.92 |"])

    def test_one_system_in_both_forms(self):
        def solved(name, **more):
            return {"preconditioner": name, "iterations": 9, "factorise": {"median": 1e-3}, "spmv": 2e-3,
                    "preconditioner_apply": 3e-3, "total": 7e-3, **more}
        with tempfile.TemporaryDirectory() as scratch:
            self.assertEqual(BARS.structure_table(scratch), {})
            for name in BARS.STRUCTURE:
                found = [solved("struct_ilu" if name == "structure-grid" else "jacobi"), solved("cusparse_ilu", format="csr")]
                (pathlib.Path(scratch) / f"{name}.json").write_text(json.dumps({"solves": found}))
            made = BARS.structure_table(scratch)["structure"].splitlines()[2:]
        self.assertEqual(made[0], "| `struct_ilu`, on the grid | 9 | 1.00 | 2.00 | 3.00 | 7.00 |")
        self.assertEqual(made[1], "| `cusparse_ilu`, compressed rows | 9 | 1.00 | 2.00 | 3.00 | 7.00 |")
        self.assertEqual(made[2], "| `jacobi`, general | 9 | 1.00 | 2.00 | 3.00 | 7.00 |")
        self.assertEqual(len(made), 6)  # cuSPARSE has no row in general form

    def test_published_variants_are_counted_as_in_the_paper(self):
        def rows(auto, shared, vect, adapt, levs, without, with_levels):
            ours = dict(zip(BARS.PUBLISHED, (shared, vect, adapt, levs)))
            return [row("sync_free_ilu", auto, 1.0),
                    *(row(f"sync_free_ilu:variant={name}", time, 1.0) for name, time in ours.items() if time),
                    row("cusparse_ilu:cholesky=false", with_levels, 1.0, analysis=1.0),
                    row("cusparse_ilu:cholesky=false:level_information=false", without, 1.0, analysis=1.0)]
        with tempfile.TemporaryDirectory() as scratch:
            for name, times in (("a-96-rcm", (1e-3, 8e-3, 8e-3, 2e-3, 3e-3, 4e-3, 2.4e-3)),
                                ("b-1", (1e-3, None, 4e-3, 8e-3, 4e-3, 2e-3, 2e-3))):
                path = pathlib.Path(scratch) / f"variants-{name}.json"
                path.write_text(json.dumps({"systems": [{"preconditioners": rows(*times)}]}), encoding="utf-8")
            made = BARS.published_tables(BARS.read_published(scratch))
        self.assertEqual(made["published variants"].splitlines()[2:], [
            "| a-96 | rcm | 4.00 | 2.40 | 8.00 (0.50) | 8.00 (0.50) | 2.00 (2.00) | 3.00 (0.80) | 1.00 (2.40) |",
            "| b-1 | given | 2.00 | 2.00 | - | 4.00 (0.50) | 8.00 (0.25) | 4.00 (0.50) | 1.00 (2.00) |",
            "| geometric mean |  |  |  | **0.50** | **0.50** | **0.71** | **0.63** | **2.19** |"])
        figures = [[cell.strip() for cell in line.split("|")[2:-1]]
                   for line in made["published figures"].splitlines()[2:]]
        self.assertEqual(figures[0], ["", "0", "1", "1", "0", ""])
        self.assertEqual(figures[1], ["1", "0", "0", "1", "", ""])
        self.assertEqual(figures[3], ["1", "0", "0", "1", "0", ""])
        self.assertEqual(figures[4], ["0", "0", "0", "0", "0", "2"])
        self.assertEqual(figures[5], ["", "0", "0", "1", "0", "2"])
        self.assertEqual(figures[7], ["", "0.50", "0.50", "1.12", "0.65", "2.20"])


if __name__ == "__main__":
    unittest.main()
