# SPDX-License-Identifier: BSD-3-Clause
"""Pages of docs/results: their tables are those that docs/results/tables.py makes of the files beside them."""

import json
import pathlib
import re
import subprocess
import tempfile
import unittest

from result_files import cases, mean, median, of, overs
from scripts import module_of

RESULTS = pathlib.Path(__file__).resolve().parents[2] / "docs/results"
PAGES = {RESULTS / card: (RESULTS / card / "README.md").read_text(encoding="utf-8") for card in ("h100", "h200")}
TABLES = module_of(RESULTS / "tables.py")


def timed(seconds):
    return {"seconds": {"least": seconds, "median": seconds, "most": seconds}}


def case(n, own, **cusparse):
    """A case whose four kernels take `own` seconds, and cuSPARSE's what is given for each format."""
    ours = {**timed(own), "time_over_limit": 2.0, "time_over_own_limit": 4.0}
    return {"stencil": "star7", "dof": 2, "n": n, "symmetric": False,
            "kernels": {name: ours for name in TABLES.KERNELS},
            "cusparse": {name: {"kernels": {kernel: timed(seconds) for kernel in TABLES.KERNELS}}
                         for name, seconds in cusparse.items()}}


class Results(unittest.TestCase):
    def test_page_is_what_the_script_prints(self):
        for folder, page in PAGES.items():
            with self.subTest(folder.name):
                printed = {table for _, _, table in TABLES.tables_of(list(folder.glob("*.json")))}
                shown = {table.strip() for table in re.findall(r"(?:^\|.*\n)+", page, re.M)}
                files = {table for table in shown if table.startswith("| file |")}
                self.assertEqual(len(files), 1)
                self.assertEqual(shown - files, printed)

    def test_page_names_each_file_and_no_other(self):
        for folder, page in PAGES.items():
            self.assertEqual(sorted(re.findall(r"^\| `([\w-]+\.json)` \|", page, re.M)),
                             sorted(path.name for path in folder.glob("*.json")))

    def test_files_are_of_the_commit_and_card_of_the_page(self):
        for folder, page in PAGES.items():
            for path in folder.glob("*.json"):
                data = json.loads(path.read_text(encoding="utf-8"))
                self.assertIn(f"commit {data['git_sha'][:7]}", page, path.name)
                self.assertNotIn("dirty", data["git_sha"], path.name)
                device = data["system"]["device"].removeprefix("cuda, ") if "candidates" in data else data["device"]
                self.assertIn(device, page, path.name)

    def assert_rounded(self, texts, values):
        """Each text is its value, rounded to the text's last digit."""
        self.assertEqual(len(texts), len(values))
        for text, value in zip(texts, values):
            self.assertAlmostEqual(float(text), value, delta=0.5 * 10.0**-len(text.partition(".")[2]) + 1e-9)

    def test_figures_of_the_readme_are_those_of_the_files(self):
        readme = (RESULTS.parents[1] / "README.md").read_text(encoding="utf-8")
        kernels = ("spmv", "lower", "factorise")

        def figures(title):
            """The numbers of a row's cells between its title and its source."""
            _, *found, _ = re.search(rf"^\| ({title}.*) \|$", readme, re.M)[1].split(" | ")
            return [figure for cell in found for figure in re.findall(r"[\d.]*\d", cell)]

        for name in ("h200", "h100"):
            card = json.loads((RESULTS / name / "kernels-table3.json").read_text(encoding="utf-8"))
            self.assert_rounded(figures(f"one {name.upper()}: time over the least"),
                                [card["geometric_mean_time_over_own_limit"][kernel] for kernel in kernels])
            over, slower = (card[what] for what in ("geometric_mean_cusparse_over_this", "cases_slower_than_cusparse"))
            found = figures(f"one {name.upper()}: cuSPARSE's best")
            self.assertEqual([int(found.pop(1))] if slower["spmv"] else [0], [slower["spmv"]])
            self.assert_rounded(found, [over[kernel] for kernel in kernels])
            self.assertEqual([slower[kernel] for kernel in ("lower", "upper", "factorise")], [0, 0, 0])
        two, eisenstat = {}, of("eisenstat")["candidates"][0]
        for name in ("multigrid-512", "multigrid-512-single"):
            (solve,) = of(name)["solves"]
            two[name] = 1e3 * (solve["first_setup"] + solve["solve"]["median"])
        decks = {one.get("format", "own"): one for one in of("solves")["solves"] if "poisson_ic0" in one["deck"]}
        for title, values in {r"CG \+ IC\(0\), 304³ points, to 1e-2, one H200": [1e3 * decks["own"]["total"]],
                              "the same with cuSPARSE's factors": [1e3 * decks["csr"]["total"]],
                              r"CG \+ multigrid, 512³ points, one H200, to 1e-8": [two["multigrid-512"]],
                              "the same with the hierarchy in single precision": [two["multigrid-512-single"]],
                              r"CG \+ IC\(0\) in Eisenstat's form": [455 * eisenstat["seconds_per_iteration"]]}.items():
            self.assert_rounded(figures(title), values)
        self.assertIn("eisenstat=true", eisenstat["name"])

    def test_means_without_cases_in_which_a_format_fails(self):
        """Both means of the H200's page: of all cases, and of those in which cuSPARSE's faster format runs."""
        page = " ".join(PAGES[RESULTS / "h200"].split())
        kernels = ("lower", "upper", "factorise")
        many, few = (lambda one: one["dof"] > 2), (lambda one: one["dof"] == 2)
        expected = [mean(overs("kernels-table3-a100", kernel, which)) for which in (few, many) for kernel in kernels]
        self.assert_rounded(re.search(r"cuSPARSE takes ([\d.]+), ([\d.]+) and ([\d.]+) times as long as lower solve, upper solve and factorisation "
                                      r"with two unknowns, and ([\d.]+), ([\d.]+) and ([\d.]+) times with 4 to 8", page).groups(), expected)
        expected = [mean(overs("figure9", kernel, which)) for which in (lambda one: one["n"] < 320, lambda one: True) for kernel in kernels]
        self.assert_rounded(re.search(r"without these two systems cuSPARSE takes ([\d.]+), ([\d.]+) and ([\d.]+) .*? with them ([\d.]+), "
                                      r"([\d.]+) and ([\d.]+)\.", page).groups(), expected)

    def test_tunings_beyond_three_per_cent_are_told(self):
        page = PAGES[RESULTS / "h200"]
        told = page[page.index("Beyond 3 % by the medians:"):page.index("All other defaults are at most 3.0 % slower")]
        beyond = []
        for one in cases("tunings"):
            for kernel in ("lower", "upper", "factorise"):
                longer = [100 * (median(one["kernels"][kernel]) / median(tuned["kernels"][kernel]) - 1) for tuned in one["variants"]
                          if kernel in tuned["kernels"] and not tuned["name"].startswith("storage")]
                beyond += [f"{per_cent:.1f}" for per_cent in longer if per_cent > 3.05]
        self.assertEqual(len(beyond), 6)
        for per_cent in beyond:
            self.assertIn(per_cent, told)

    def test_products_of_general_matrices_are_those_of_the_files(self):
        """The table of general.md, the figures below it, and its commit."""
        paths, page = list((RESULTS / "general").glob("products-*.json")), (RESULTS / "general.md").read_text(encoding="utf-8")
        self.assertIn(TABLES.products(paths), page)
        section = " ".join(page[page.index("\n## Products\n"):page.index("\n## Iterations beside PETSc\n")].split())
        over_limit, over_copy, over_cusparse = {}, {}, {}
        for path in paths:
            data = json.loads(path.read_text(encoding="utf-8"))
            self.assertIn(f"commit {data['git_sha'][:7]}", section, path.name)
            (deck,), name = data["decks"], path.stem.removeprefix("products-")
            own = next(way for way in deck["ways"] if way["name"] == "product")
            over_limit[name], over_copy[name] = own["time_over_limit"], median(own) / deck["copy"]["median"]
            over_cusparse[name] = median(own) / min(median(way) for way in deck["ways"] if way["name"].startswith("cuSPARSE"))
        chosen = [name for name in over_limit if name in ("star7-128", "box27-96") or re.fullmatch(r"blocks([2-9]|1[02])-\d+", name)]
        self.assertEqual(len(chosen), 12)
        found = re.search(r"apart, take ([\d.]+) times the limit in the geometric mean and at most ([\d.]+) times\*\* \([^)]*\), "
                          r"([\d.]+) and at most ([\d.]+) times the copy's time", section)
        self.assert_rounded(found.groups(), [figure for over in (over_limit, over_copy)
                                             for figure in (mean(over[name] for name in chosen), max(over[name] for name in chosen))])
        self.assert_rounded(re.search(r"All 21 take ([\d.]+) of cuSPARSE's time", section).groups(), [mean(over_cusparse.values())])
        for name, begin in (("circuit-1000000", "The circuit, with four rows"), ("power-law-1000000", "Long-tailed rows of a power law")):
            self.assert_rounded(re.search(begin + r"[^.]*? take[s]? ([\d.]+) times the limit and ([\d.]+) times as long as the copy", section).groups(),
                                [over_limit[name], over_copy[name]])

    def test_cusparses_faster_format_counts(self):
        cases = [case(8, 2.0, csr=12.0, bsr=4.0), case(9, 2.0, csr=16.0, bsr=17.0), case(7, 2.0)]
        tables = TABLES.kernels({"cases": cases})
        self.assertIn("| SpMV | 2.00 | 4.00 | 4.00 | 4.00 | 0 |", tables["geometric means"])  # of 2 and 8
        rows = tables["cases"].splitlines()
        self.assertIn("| star7:2:8 | 2000 | 4.00 | 2.00 bsr |", rows[2])
        self.assertIn("| star7:2:9 | 2000 | 4.00 | 8.00 csr |", rows[3])
        self.assertIn("| star7:2:7 | 2000 | 4.00 |  |", rows[4])
        slower = TABLES.kernels({"cases": [case(8, 4.0, csr=3.0, bsr=5.0)]})
        self.assertIn("| lower solve | 2.00 | 4.00 | 4.00 | 0.75 | 1 |", slower["geometric means"])

    def test_a_piece_that_no_default_has(self):
        slower = {"name": "shared rows", "kernels": {"factorise": timed(5.0)}}
        left_out = {"name": "by level", "kernels": {"factorise": timed(8.0)}}
        tables = TABLES.ablation({"cases": [{**case(8, 4.0), "variants": [slower, left_out]}]})
        self.assertIn("| tiles that wait for each other | level sets within a row |", tables["factorisation"])
        self.assertIn("| star7:2:8 | 2.00 | 0.80 |", tables["factorisation"])

    def test_the_fastest_tuning_of_each_kernel(self):
        tuned = [{"name": "2 stages", "kernels": {"lower": timed(5.0), "upper": timed(4.2)}},
                 {"name": "4 stages", "same_as": "the default", "kernels": {}},
                 {"name": "6 stages", "kernels": {"lower": timed(3.0), "upper": timed(4.4)}},
                 {"name": "storage single", "kernels": {"lower": timed(1.0), "upper": timed(1.0)}}]
        text = TABLES.tunings({"cases": [{**case(8, 4.0), "variants": tuned}]})["tunings"]
        self.assertIn("| star7:2:8 | 4000 | 0.75 6 stages | 2 | 4000 | 1.05 2 stages | 2 | 4000 | 0 |", text)

    def test_whole_solves_of_a_comparison(self):
        done = {"name": "cg+a", "converged": True, "iterations": 7, "setup_seconds": {"median": 0.002},
                "solve_seconds": {"median": 0.0321}, "total_seconds": {"median": 0.0341}, "seconds_per_iteration": 0.0046,
                "memory": {"peak": 3 * 2**29}}
        failed = {"name": "cg+b", "converged": False, "iterations": 2000}
        with tempfile.TemporaryDirectory() as scratch:
            path = pathlib.Path(scratch) / "a.json"
            path.write_text(json.dumps({"candidates": [done, failed]}), encoding="utf-8")
            text = TABLES.tables(path)["whole solves"]
        self.assertIn("| `cg+a` | 7 | 2.00 | 32.1 | 34.1 | 4.60 | 1.50 |", text)
        self.assertIn("| `cg+b` | not within 2000 |  |  |  |  |  |", text)

    def test_a_first_run_beside_the_median_of_later_ones(self):
        runs = [{"compile": 1.25, "setup": 0.011, "solve": 0.42}] + [
            {"compile": 0, "setup": setup, "solve": 0.4} for setup in (0.010, 0.012, 0.009)]
        text = TABLES.first_runs({"decks": [{"deck": "a.ini", "iterations": 9, "runs": runs}]})
        self.assertIn("| a | 9 | 1.25 | 11.0 | 10.0 | 1.10 | 30 % | 420 | 400 | 1.05 | 0 % |", text["first and later runs"])

    def test_what_was_refused_has_no_row(self):
        found = [{"preconditioner": "cusparse_ilu", "refused": "too large"},
                 {"preconditioner": "cusparse_ilu:format=bsr", "apply": {"median": 4.0}, "setup": {"median": 6.0},
                  "time_over_limit": 2.0},
                 {"preconditioner": "fgbilu", "apply": {"median": 2.0}, "setup": {"median": 2.0}, "time_over_limit": 1.0}]
        text = TABLES.preconditioners({"systems": [{"system": "a", "preconditioners": found}]})["applications"]
        self.assertNotIn("`cusparse_ilu`", text)
        self.assertIn("| a | `fgbilu` | 2000 | 1.00 | 2.00 | 2000 | 3.00 |", text)

    def test_pieces_added_one_after_the_other(self):
        steps = [{"name": "a launch a level", "kernels": {"lower": timed(8.0), "upper": timed(8.0), "factorise": timed(9.0)}},
                 {"name": "tiles", "kernels": {"lower": timed(2.0), "upper": timed(2.0), "factorise": timed(3.0)}},
                 {"name": "registers", "kernels": {"factorise": timed(1.5)}}]
        tables = TABLES.build_up({"cases": [{**case(8, 1.0), "built_up": steps}]})
        self.assertIn("| lower solve, ms | a launch a level | tiles | the default |", tables["lower solve"])
        self.assertIn("| star7:2:8 | 8000 | 2000 (4.00) | 1000 (2.00) |", tables["lower solve"])
        self.assertIn("| star7:2:8 | 9000 | 3000 (3.00) | 1500 (2.00) | 1000 (1.50) |", tables["factorisation"])

    def test_set_ups_are_compared_with_cusparses_faster_format(self):
        def system(name, **setups):
            return {"system": name, "preconditioners": [
                {"preconditioner": one.replace("_bsr", ":format=bsr"), "apply": {"median": 1.0},
                 "setup": {"median": seconds}, "time_over_limit": 1.0} for one, seconds in setups.items()]}
        tables = TABLES.preconditioners({"systems": [
            system("a", cusparse_ilu=9.0, cusparse_ilu_bsr=4.0, fgbilu=2.0), system("b", cusparse_ilu=3.0, fgbilu=6.0)]})
        self.assertIn("| b | `fgbilu` | 1000 | 1.00 | 1.00 | 6000 | 0.50 |", tables["applications"])
        self.assertIn("| `fgbilu` | 1.00 | 0.50 | 1 |", tables["set-ups"])
        self.assertNotIn("cusparse", tables["set-ups"])
        self.assertNotIn("lower solve", tables["applications"])
        one = system("c", cusparse_ilu=6.0, other=2.0, fgbilu=2.0)
        one["preconditioners"][0]["lower"], one["preconditioners"][2]["lower"] = {"median": 3.0}, {"median": 1.0}
        rows = TABLES.preconditioners({"systems": [one]})["applications"].splitlines()
        self.assertTrue(rows[0].endswith("| lower solve alone, ms | the better cuSPARSE over this |"))
        self.assertTrue(rows[3].endswith("| 3.00 |  |  |"))
        self.assertTrue(rows[4].endswith("| 3.00 | 1000 | 3.00 |"))
        alone = TABLES.preconditioners({"systems": [system("a", fgbilu=2.0), system("b", fgbilu=2.0)]})
        self.assertNotIn("set-ups", alone)

    def test_three_digits(self):
        for value, text in ((0.0651, "0.065"), (2.716, "2.72"), (14.32, "14.3"), (152.14, "152"), (2000, "2000")):
            self.assertEqual(TABLES.three_digits(value), text)

    def test_multigrid_has_one_table_for_all_grids(self):
        with tempfile.TemporaryDirectory() as scratch:
            paths = [pathlib.Path(scratch) / f"multigrid-{name}.json" for name in ("64", "128", "128-single")]
            for path, first in zip(paths, (0.010, 0.020, 0.040)):
                one = {"iterations": 8, "first_setup": first, "before": {"setup": 0.009}, "factorise": {"median": 0.008},
                       "solve": {"median": 0.080}}
                path.write_text(json.dumps({"solves": [one]}), encoding="utf-8")
            ((name, _, text),) = TABLES.tables_of(paths)
        self.assertEqual(name, "multigrid-*.json")
        self.assertEqual(text.splitlines()[2:], [
            "| 128^3 | double | 8 | 20.0 | 9.00 | 8.00 | 80.0 | 100 | 2.0 |",
            "| 128^3 | single, vectors too | 8 | 40.0 | 9.00 | 8.00 | 80.0 | 120 | 4.0 |",
            "| 64^3 | double | 8 | 10.0 | 9.00 | 8.00 | 80.0 | 90.0 | 1.0 |"])

    def test_products_have_one_table_for_all_systems(self):
        def ways(**seconds):
            return [{"name": name.replace("_", " "), **timed(one), "time_over_limit": 1.25, "error": 1e-16, "bytes": 8.0}
                    for name, one in seconds.items()]

        def deck(dof, made):
            return {"deck": "inputs/matrix.ini", "format": "general", "rows": 100, "dof": dof, "entries": 700 * dof**2,
                    "copy": timed(0.001)["seconds"], "ways": made}

        with tempfile.TemporaryDirectory() as scratch:
            paths = [pathlib.Path(scratch) / f"{name}.json" for name in ("products-star7-128", "products-blocks10-36", "products-blocks2-96", "mine")]
            for path, one in zip(paths, (
                    deck(1, ways(product=0.002, residual=0.003, cuSPARSE_CSR=0.005, **{"cuSPARSE CSR, algorithm 2": 0.004})),
                    deck(2, ways(product=0.002, cuSPARSE_CSR=0.004, cuSPARSE_BSR=0.0032)),
                    {**deck(2, ways(product=0.002, cuSPARSE_BSR=0.0032)), "left_out": [{"name": "cuSPARSE CSR", "why": "large"}]},
                    deck(1, ways(product=0.002)))):
                path.write_text(json.dumps({"kind": "products", "copy_rate": 1e9, "decks": [one]}), encoding="utf-8")
            (mine, _, alone), (name, what, text) = TABLES.tables_of([paths[3], *paths[:3]])
        self.assertEqual((mine, name, what), ("mine.json", "products-*.json", "products"))
        self.assertEqual(text.splitlines()[2:], ["| blocks2-96 | 14.0 | 2.0000 | 1.25 | 1.0000 |  | 3.2000 | 1.60 |",
                                                 "| blocks10-36 | 14.0 | 2.0000 | 1.25 | 1.0000 | 4.0000 | 3.2000 | 1.60 |",
                                                 "| star7-128 | 7.0 | 2.0000 | 1.25 | 1.0000 | 4.0000 |  | 2.00 |"])
        self.assertEqual(alone.splitlines()[2:], ["| matrix | 7.0 | 2.0000 | 1.25 | 1.0000 |"])

    def test_refuses_what_it_has_no_table_for(self):
        with tempfile.TemporaryDirectory() as scratch:
            for content, told in ((None, "holds no JSON file"),
                                  ({"kind": "weather"}, "no table of the kind 'weather'")):
                if content:
                    (pathlib.Path(scratch) / "a.json").write_text(json.dumps(content), encoding="utf-8")
                done = subprocess.run([RESULTS / "tables.py", scratch], capture_output=True, text=True)
                self.assertEqual(done.returncode, 1)
                self.assertIn(told, done.stderr)


if __name__ == "__main__":
    unittest.main()
