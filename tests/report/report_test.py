# SPDX-License-Identifier: BSD-3-Clause
"""The report: pages and pictures from small records.

Run by ctest with a Python that has h5py and matplotlib; leaves with code 77, skipped, without them.
"""

import re
import unittest
import warnings

from report_case import Outline, ReportTest

import h5py
from make_record import make_comparison, make_study

import hyperplane
from reporting import live, plots


def svg_words(figure):
    return " ".join(axes.get_title(loc="left") for axes in figure.axes)


class Pages(ReportTest):
    def test_page_is_whole_and_needs_nothing_else(self):
        page = self.page(self.record("a.h5"))
        outline = Outline(page)
        self.assertEqual(outline.open, [])
        self.assertEqual(len(outline.pictures()), 4)
        self.assertLess(len(page), 1_000_000)
        for tag in ("link", "iframe", "img"):
            self.assertNotIn(tag, outline.tags)
        self.assertFalse([script for script in outline.named("script") if "src" in script])
        self.assertIn("default-src 'none'", outline.named("meta")[1]["content"])
        page = re.sub(r"<script.*?</script>", "", page, flags=re.S)
        addresses = set(re.findall(r"https?://[^\s\"'<>)]*", page))
        self.assertLessEqual(addresses, {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"})
        links = [value for _, attributes in outline.attributes for name, value in attributes.items()
                 if name in ("href", "src", "xlink:href")]
        self.assertTrue(all(link.startswith("#") for link in links))

    def test_page_holds_the_numbers(self):
        text = " ".join(Outline(self.undrawn_page(self.record("a.h5", iterations=(53,)))).texts)
        for words in ("Success", "cg + struct_ilu", "64 × 64 × 64 points, star7", "262,144", "converged_rtol", " 53 ",
                      "28.0 MiB", "solver.rtol", "1e-08", "poisson.ini:4", "a # name.h5", "node<1>", "error, max 1.5e-5"):
            self.assertIn(words, text)

    def test_pictures_and_tables_can_be_read_aloud(self):
        outline = Outline(self.page(self.record("a.h5")))
        for svg in outline.pictures():
            self.assertEqual(svg["role"], "img")
            self.assertGreater(len(svg["aria-label"]), 40)
        self.assertEqual(outline.tags.count("table"), outline.tags.count("caption"))
        self.assertTrue(all(head["scope"] in ("row", "col") for head in outline.named("th")))
        self.assertEqual(outline.named("html")[0]["lang"], "en")

    def test_several_records_share_a_plot(self):
        files = [self.record("a.h5"), self.record("b.h5", preconditioner="jacobi", iterations=(90,), rate=0.8)]
        outline = Outline(self.page(*files))
        self.assertEqual(len(outline.pictures()), 4)
        label = outline.pictures()[0]["aria-label"]
        self.assertIn("cg + struct_ilu ends", label)
        self.assertIn("cg + jacobi ends", label)

    def test_runs_of_different_systems_are_told(self):
        same = [self.record("a.h5"), self.record("b.h5", preconditioner="jacobi")]
        self.assertNotIn("different systems", self.undrawn_page(*same))
        other = self.record("c.h5", problem_keys="coefficient = checker\n")
        self.assertNotIn("different systems", self.undrawn_page(same[0], other))  # the first record does not say
        page = self.undrawn_page(self.record("d.h5", problem_keys="coefficient = <const>\n"), other)
        self.assertIn("The runs solve different systems, so their iterations and times do not compare methods: "
                      "problem.coefficient is &lt;const&gt;, checker.", page)

    def sweep(self):
        return [self.record(f"{name}_{n}.h5", preconditioner=name, cells=n, iterations=(n,))
                for name in ("struct_ilu", "jacobi") for n in (16, 32, 64)]

    def test_many_runs_take_a_row_each(self):
        outline = Outline(self.page(*self.sweep(), self.record("bad.h5", exit_code=3, status="failed")))
        self.assertEqual(outline.open, [])
        rows = [row for row in outline.named("tr") if "data-run" in row]
        self.assertEqual([row["data-run"] for row in rows], list("0123456"))
        self.assertEqual([row.get("class") for row in rows], 6 * [None] + ["failed"])
        text = " ".join(outline.texts)
        self.assertIn("6 of 7 runs", text)
        for column in ("preconditioner", "cells", "unknowns", "iterations", "solve [s]"):
            self.assertIn(column, text)

    def test_scaling_draws_a_curve_each_combination(self):
        page = self.page(*self.sweep())
        label = next(svg["aria-label"] for svg in Outline(page).pictures() if "over unknowns" in svg["aria-label"])
        self.assertIn("struct_ilu: 0.036 at 4100", label)
        self.assertIn("jacobi: ", label)
        self.assertNotIn("How it scales", self.undrawn_page(self.record("one.h5")))

    def test_comparison(self):
        make_comparison(self.path("c.h5"), {"cg+struct_ilu": 20, "cg+jacobi:a=1": 60}, failed=("gmres+none",))
        page = self.page(self.path("c.h5"))
        outline = Outline(page)
        self.assertEqual(outline.open, [])
        rows = [row for row in outline.named("tr") if "data-run" in row]
        self.assertEqual([row.get("class") for row in rows], ["best", None, "failed"])
        text = " ".join(outline.texts)
        for words in ("3 candidates compared", "is the fastest that converged: 2 ms", "recommended: solver cg, preconditioner jacobi", "because: 2 ms is the least", "its memory: 1.0 MiB",
                      "diverged: it grew and grew", "4e4fdc52c62e2dd9", "cg+wobbly", "it is not symmetric", "cg+jacobi:a=1", "preconditioner [%]"):
            self.assertIn(words, text)
        self.assertIn("cg+jacobi:a=1 ends at", outline.pictures()[0]["aria-label"])

    LONG = "reading, ordering and set-up (symbolic 0.003 s, numeric 0.0011 s) took as long as 190 iterations"

    @staticmethod
    def cells(page, title):
        """The column of the table of cases with this title."""
        table = re.search(r'<table class="cases".*?</table>', page, re.S).group()
        head, *rows = re.findall(r"<tr.*?</tr>", table, re.S)
        columns = [[re.sub(r"<[^>]*>", "", cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.S)] for row in (head, *rows)]
        return [row[columns[0].index(title)] for row in columns[1:]]

    def test_parts_of_a_preparation(self):
        """Reading, ordering, symbolic and numeric set-up apart; the sentence, if a general matrix took long."""
        long = self.record("long.h5", prepared=self.LONG)
        text = " ".join(Outline(self.undrawn_page(long)).texts)
        for words in ("reading [s] 0.25", "ordering [s] 0.125", "symbolic set-up [s] 0.003", "numeric set-up [s] 0.0011", self.LONG + "."):
            self.assertTrue(words in text, words)
        text = " ".join(Outline(self.undrawn_page(self.record("a.h5"))).texts)
        for words in ("reading [s]", "symbolic", "took as long"):
            self.assertFalse(words in text, words)
        both = " ".join(Outline(self.undrawn_page(long, self.path("a.h5"))).texts)
        self.assertTrue("0.003" in both)
        self.assertEqual(both.count("took as long"), 1)

    def test_many_long_preparations_are_folded(self):
        for count in (3, 4):
            page = self.undrawn_page(*(self.record(f"l{n}.h5", prepared=self.LONG) for n in range(count)))
            self.assertEqual(page.count(self.LONG), count)
            self.assertEqual(page.count("<summary>Preparations of 4 runs"), count == 4)

    def test_solves_after_which_candidates_pay_off(self):
        names = {"cg+jacobi": 60, "cg+struct_ilu": 20, "cg+none": 90}
        make_comparison(self.path("c.h5"), names, pays_off=[0, 17, 1], prepared=self.LONG)
        page = self.undrawn_page(self.path("c.h5"))
        self.assertEqual(self.cells(page, "pays off from solves"), ["", "17", "1"])
        self.assertEqual(self.cells(page, "reading [ms]"), ["250"] * 3)
        self.assertEqual(self.cells(page, "numeric set-up [ms]"), ["1.1"] * 3)
        self.assertTrue(self.LONG + "." in " ".join(Outline(page).texts))
        make_comparison(self.path("c.h5"), names)  # of a program that did not write the numbers
        self.assertEqual(self.cells(self.undrawn_page(self.path("c.h5")), "pays off from solves"), [""] * 3)

    def test_solves_after_which_runs_of_several_files_pay_off(self):
        """Each beside the baseline of its own file; a single run has none."""
        title = "pays off from solves"
        make_comparison(self.path("c.h5"), {"cg+jacobi": 60, "cg+struct_ilu": 20, "cg+none": 90}, pays_off=[0, 17, 1])
        cases = {("jacobi", 16): 60, ("struct_ilu", 16): 20, ("none", 16): 90}
        make_study(self.path("s.h5"), cases, waiting=[("none", 64)], pays_off=[-1, 23, 1, -1])
        single = self.record("a.h5")
        page = self.undrawn_page(self.path("c.h5"), single, self.path("s.h5"))
        self.assertEqual(self.cells(page, title), ["", "17", "1", "", "", "23", "1"])
        told = "beside the baseline of its own comparison or study"
        self.assertIn(told, " ".join(Outline(page).texts))
        make_comparison(self.path("c.h5"), {"cg+jacobi": 60, "cg+struct_ilu": 20}, pays_off=[0, 17])
        beside = " ".join(Outline(self.undrawn_page(self.path("c.h5"), single)).texts)  # side by side, as few runs are
        self.assertIn(f"{title} none 17 none", beside)
        self.assertIn(told, beside)
        make_comparison(self.path("c.h5"), {"cg+jacobi": 60, "cg+struct_ilu": 20})  # of a program that did not write the numbers
        for files in ((self.path("c.h5"), single), (single, self.record("b.h5"))):
            self.assertNotIn("pays off", " ".join(Outline(self.undrawn_page(*files)).texts))

    def test_comparison_and_run_together(self):
        make_comparison(self.path("c.h5"), {"cg+struct_ilu": 20, "cg+jacobi": 60})
        text = " ".join(Outline(self.undrawn_page(self.path("c.h5"), self.record("a.h5"))).texts)
        self.assertIn("3 runs", text)

    def test_study(self):
        make_study(self.path("s.h5"), {(name, n): n for name in ("struct_ilu", "jacobi") for n in (16, 32, 64)},
                   waiting=[("none", 64)])
        outline = Outline(self.page(self.path("s.h5")))
        self.assertEqual(outline.open, [])
        text = " ".join(outline.texts)
        for words in ("a study of poisson, 7 cases", "6 of 7 cases", "1 waiting", "preconditioner=none,cells=64"):
            self.assertIn(words, text)
        label = next(svg["aria-label"] for svg in outline.pictures() if "over unknowns" in svg["aria-label"])
        self.assertIn("struct_ilu: 0.036 at 4100", label)
        self.assertIn("jacobi, cells=16", outline.pictures()[0]["aria-label"])

    def test_solves_after_which_cases_of_a_study_pay_off(self):
        cases = {("jacobi", 16): 60, ("struct_ilu", 16): 20, ("none", 16): 90}
        make_study(self.path("s.h5"), cases, waiting=[("none", 64)], pays_off=[-1, 17, 1, -1])
        self.assertEqual(self.cells(self.undrawn_page(self.path("s.h5")), "pays off from solves"), ["", "17", "1", ""])
        make_study(self.path("s.h5"), cases)  # of a program that did not write the numbers
        self.assertFalse("pays off" in " ".join(Outline(self.undrawn_page(self.path("s.h5"))).texts))

    def test_study_without_results(self):
        make_study(self.path("s.h5"), {}, waiting=[("none", 64)])
        self.assertIn("0 of 1 cases", " ".join(Outline(self.undrawn_page(self.path("s.h5"))).texts))

    def test_achieved_is_set_against_the_limit_where_there_is_one(self):
        self.assertIn("of what the memory delivers", svg_words(plots.bandwidth(self.read(limit=40.0))))
        self.assertNotIn("of what the memory delivers", svg_words(plots.bandwidth(self.read())))

    def test_a_solve_on_a_gpu_is_one_part(self):
        table = plots.times(self.read(gpu=True)[0])
        self.assertAlmostEqual(table["solve, its parts not timed"], 2e-3 * 53)
        self.assertEqual((table["vector operations"], table["SpMV"]), (0.0, 0.0))
        table = plots.times(self.read()[0])
        self.assertEqual(table["solve, its parts not timed"], 0.0)
        self.assertAlmostEqual(table["vector operations"], 0.15 * 2e-3 * 53)

    def test_where_the_time_went(self):
        """Each kind stands before those within it, whatever the order in which they first occurred."""
        profile = [("setup", 0.5, 1, 0), ("solve", 2.0, 1, 0), ("solve/spmv", 0.5, 53, 10**10), ("setup/symbolic", 0.25, 1, 0),
                   ("solve/preconditioner", 1.0, 53, 0), ("solve/preconditioner/lower", 0.6, 53, 6 * 10**9)]
        words = Outline(self.undrawn_page(self.record("a.h5", limit=40.0, profile=profile))).texts
        words = [word.strip("\u2003 ") for word in words]
        kinds = ["setup", "symbolic", "solve", "spmv", "preconditioner", "lower"]
        begin = words.index("kind of work")
        self.assertEqual([word for word in words[begin:] if word in kinds][:6], kinds)
        for word in ("Where the time went", "25.0%", "50%", "20", "30.0%"):
            self.assertIn(word, words[begin - 20:])
        self.assertNotIn("kind of work", Outline(self.undrawn_page(self.record("b.h5"))).texts)

    def read(self, **options):
        return hyperplane.load_all([self.record("a.h5", **options)])

    def test_without_chart_js_the_page_has_its_pictures(self):
        self.addCleanup(setattr, live, "CHART_JS", live.CHART_JS)
        live.CHART_JS = ()
        done = self.report("-o", self.path("page.html"), self.record("a.h5"))
        self.assertEqual(done.returncode, 0)
        self.assertIn("libjs-chart.js is not installed", done.stderr)
        with open(self.path("page.html"), encoding="utf-8") as file:
            self.assertEqual(len(Outline(file.read()).pictures()), 4)

    def test_equal_methods_are_told_apart_by_file(self):
        text = " ".join(Outline(self.page(self.record("coarse.h5"), self.record("fine.h5"))).texts)
        self.assertIn("coarse", text)
        self.assertIn("fine", text)

    def test_iterations_of_all_solves_are_added_up(self):
        text = " ".join(Outline(self.undrawn_page(self.record("a.h5", iterations=(20, 20, 18), rate=0.4))).texts)
        self.assertRegex(text, r"iterations\s+58 ")

    def test_failure_is_said_in_words(self):
        text = self.undrawn_page(self.record("a.h5", status="failed", exit_code=3, message="residual 1e-3 after 20"))
        self.assertIn("No success: residual 1e-3 after 20 (exit code 3: not converged", text)

    def test_running_record_is_marked(self):
        page = self.page(self.record("a.h5.part", status="running", exit_code=-1, iterations=()))
        self.assertIn("This record is unfinished", page)
        self.assertIn("No iteration was recorded", page)

    def test_same_records_give_the_same_page(self):
        file = self.record("a.h5")
        self.assertEqual(self.page(file), self.page(file))

    def test_png(self):
        with self.undrawn():
            done = self.report(self.record("a.h5"), "--png", self.path("a.png"))
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("a.png"), "rb") as file:
            head = file.read(24)
        self.assertEqual(head[:8], b"\x89PNG\r\n\x1a\n")
        self.assertGreater(int.from_bytes(head[16:20], "big"), 1500)  # width in pixels, enough for print
        self.assertEqual(done.stdout.split(), ["report.html", self.path("a.png")])

    def solved_by_zero(self, name="zero.h5"):
        """A record of one solve of 0 iterations whose residual is 0, as of b = 0."""
        path = self.record(name, iterations=(0,))
        with h5py.File(path, "r+") as file:
            for column in ("history/rel_res_recurrence", "history/rel_res_true", "solves/res_true", "solves/res_recurrence"):
                file[column][...] = 0.0
        return path

    def test_a_residual_of_zero_is_told_in_words(self):
        zero = self.solved_by_zero()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            outline = Outline(self.page(zero))
            self.assertIn("No residual above 0 was recorded", " ".join(outline.texts))
            self.assertNotIn("by-iteration", [canvas["id"] for canvas in outline.named("canvas")])
            picture = plots.convergence(hyperplane.with_labels([hyperplane.load(zero)]))
            self.assertIn("No residual above 0 was recorded", picture.texts[0].get_text())
            self.assertFalse(picture.axes)
            done = self.report("-o", self.path("b.html"), zero, self.record("a.h5"), "--png", self.path("b.png"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        both = plots.convergence(hyperplane.with_labels(hyperplane.load(self.path(name)) for name in ("zero.h5", "a.h5")))
        self.assertIn("zero (no residual above 0)", [text.get_text() for text in both.legends[0].get_texts()])

    def test_a_solve_of_no_iterations_has_whole_numbers_on_its_axis(self):
        figure = plots.convergence(hyperplane.with_labels([hyperplane.load(self.record("a.h5", iterations=(0,)))]))
        self.assertGreaterEqual(figure.axes[0].get_xlim()[1], 1.0)

    def test_pictures_for_papers(self):
        for kind, head in (("pdf", b"%PDF"), ("svg", b"<?xml")):
            with self.undrawn():
                done = self.report(self.record("a.h5"), "-o", f"{kind}.html", "--png", self.path(f"a.{kind}"))
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(self.path(f"a.{kind}"), "rb") as file:
                self.assertEqual(file.read(len(head)), head)


if __name__ == "__main__":
    unittest.main()
