# SPDX-License-Identifier: BSD-3-Clause
"""The page in a browser: interactive plots, and tables that sort and filter, by mouse, by keyboard and in print.

Run by ctest in headless Chromium; leaves with code 77, skipped, where that or python3-selenium is missing.
"""

import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

try:
    import h5py  # noqa: F401
    import matplotlib  # noqa: F401
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import Select, WebDriverWait
except ImportError as missing:
    print(f"skipped: the report in a browser, {missing} ({sys.executable})")
    sys.exit(77)

from make_record import make_record

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "apps" / "reporting"))

import report  # noqa: E402
from reporting import live  # noqa: E402

DRIVER, BROWSER = shutil.which("chromedriver"), shutil.which("chromium")
for what, found in (("chromium-driver", DRIVER), ("chromium", BROWSER), ("libjs-chart.js", live.chart_js())):
    if not found:
        print(f"skipped: the report in a browser, {what} is not installed")
        sys.exit(77)

FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--window-size=1280,2400")


class BrowserTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        options = webdriver.ChromeOptions()
        options.binary_location = BROWSER
        for flag in (*FLAGS, f"--user-data-dir={cls.folder / 'profile'}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        cls.driver = webdriver.Chrome(service=Service(DRIVER), options=options)
        cls.addClassCleanup(cls.driver.quit)
        jacobi = {"preconditioner": "jacobi", "iterations": (90,), "rate": 0.8}
        cls.few = cls.write("few", [("ilu", {}), ("jacobi", jacobi)])
        sizes = [(f"{name}_{n}", {"preconditioner": name, "cells": n, "iterations": (count * n // 8,)})
                 for name, count in (("struct_ilu", 10), ("jacobi", 30)) for n in (16, 32, 64)]
        cls.many = cls.write("many", sizes)

        cls.march = cls.write("march", [("transient", {"iterations": (7, 5) * 9, "march": {"cfl": True}})])

    @classmethod
    def write(cls, name, records):
        """Makes a page of these records; returns its address."""
        paths = []
        for label, options in records:
            paths.append(str(cls.folder / f"{label}.h5"))
            make_record(paths[-1], **options)
        page = cls.folder / f"{name}.html"
        with open(os.devnull, "w", encoding="utf-8") as nothing:
            shown, sys.stdout = sys.stdout, nothing
            try:
                assert report.main(["-o", str(page), *paths]) == 0
            finally:
                sys.stdout = shown
        return page.as_uri()

    def open(self, address):
        self.driver.get(address)
        self.assertEqual([entry for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"], [])

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def ask(self, script):
        return self.driver.execute_script(f"return {script}")

    def visible(self, chart="by-iteration"):
        """Which datasets of a plot are shown; each run has two, a line and markers."""
        return self.ask(f"(c => c.data.datasets.map((_, at) => c.isDatasetVisible(at)))(Chart.getChart('{chart}'))")

    def shown_rows(self):
        return [row.find_element(By.TAG_NAME, "th").text for row in self.all("#cases tbody tr") if row.is_displayed()]

    def point_at(self, chart, dataset, point):
        """Moves the mouse to a point of a plot; returns the lines of the tooltip."""
        x, y = self.ask(f"(p => [p.x, p.y])(Chart.getChart('{chart}').getDatasetMeta({dataset}).data[{point}])")
        canvas = self.one(f"#{chart}")
        self.driver.execute_script("arguments[0].scrollIntoView()", canvas)
        size = canvas.size
        ActionChains(self.driver).move_to_element_with_offset(
            canvas, round(x - size["width"] / 2), round(y - size["height"] / 2)).perform()
        return self.ask(f"(t => t.opacity === 0 ? [] : [...t.title, ...t.body.map(b => b.lines).flat()])"
                        f"(Chart.getChart('{chart}').tooltip)")

    def test_needs_nothing_from_outside(self):
        self.open(self.few)
        self.assertEqual(self.ask("performance.getEntriesByType('resource').length"), 0)

    def test_curves_are_drawn(self):
        self.open(self.few)
        for chart in ("by-iteration", "by-time"):
            inked = self.ask(f"(c => c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some(v => v > 0))"
                             f"(document.getElementById('{chart}'))")
            self.assertTrue(inked)
        self.assertEqual(self.ask("Chart.getChart('by-iteration').data.datasets[0].data.length"), 54)
        self.assertEqual(self.ask("Chart.getChart('by-iteration').scales.y.type"), "logarithmic")

    def test_hover_shows_the_point(self):
        self.open(self.few)
        lines = self.point_at("by-iteration", 0, 30)
        self.assertEqual(lines[:2], ["cg + struct_ilu", "iteration 30"])
        self.assertIn("true residual", lines[3])
        self.assertEqual(self.point_at("by-time", 2, 60)[:2], ["cg + jacobi", "iteration 60"])

    def test_click_hides_a_curve(self):
        self.open(self.few)
        button = self.all("#legend button")[0]
        button.click()
        self.assertEqual(button.get_attribute("aria-pressed"), "false")
        for chart in ("by-iteration", "by-time"):
            self.assertEqual(self.visible(chart), [False, False, True, True])
        button.click()
        self.assertEqual(self.visible(), [True] * 4)

    def test_keyboard_hides_and_walks(self):
        self.open(self.few)
        body = self.one("body")
        body.send_keys(Keys.TAB)
        self.assertEqual(self.ask("document.activeElement.textContent"), "cg + struct_ilu")
        self.driver.switch_to.active_element.send_keys(Keys.SPACE)
        self.assertEqual(self.visible(), [False, False, True, True])
        self.driver.switch_to.active_element.send_keys(Keys.SPACE, Keys.TAB, Keys.TAB)
        canvas = self.driver.switch_to.active_element
        self.assertEqual(canvas.get_attribute("id"), "by-iteration")
        canvas.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
        spoken = self.one("#by-iteration-spoken")
        self.assertIn("cg + struct_ilu, iteration 1,", spoken.get_attribute("textContent"))
        canvas.send_keys(Keys.ARROW_DOWN, Keys.END)
        self.assertIn("cg + jacobi, iteration 90,", spoken.get_attribute("textContent"))

    def test_a_part_is_enlarged(self):
        self.open(self.few)
        canvas = self.one("#by-iteration")
        self.driver.execute_script("arguments[0].scrollIntoView()", canvas)
        size = canvas.size
        left, right = (self.ask(f"Chart.getChart('by-iteration').scales.x.getPixelForValue({x})") for x in (20, 40))
        drag = ActionChains(self.driver).move_to_element_with_offset(canvas, round(left - size["width"] / 2), 0)
        drag.click_and_hold().move_by_offset(round(right - left), 0).release().perform()
        shown = "(s => [s.min, s.max])(Chart.getChart('by-iteration').scales.x)"
        least, most = self.ask(shown)
        self.assertAlmostEqual(least, 20, delta=1)
        self.assertAlmostEqual(most, 40, delta=1)
        self.assertEqual(self.ask("Chart.getChart('by-time').scales.x.min"), 0)
        canvas.send_keys("-")
        self.assertGreater(self.ask(shown)[1], 45)
        canvas.send_keys("+")
        self.assertAlmostEqual(self.ask(shown)[1] - self.ask(shown)[0], 20, delta=2)
        canvas.send_keys(Keys.ESCAPE)
        self.assertEqual(self.ask(shown)[0], 0)
        self.assertGreaterEqual(self.ask(shown)[1], 90)

    def test_table_sorts(self):
        self.open(self.many)
        heads = self.all("#cases thead th")
        iterations = next(head for head in heads if head.text.startswith("iterations"))
        iterations.find_element(By.TAG_NAME, "button").click()
        self.assertEqual(iterations.get_attribute("aria-sort"), "ascending")
        self.assertEqual(self.shown_rows(), ["struct_ilu_16", "struct_ilu_32", "jacobi_16", "struct_ilu_64",
                                             "jacobi_32", "jacobi_64"])
        iterations.find_element(By.TAG_NAME, "button").send_keys(Keys.ENTER)
        self.assertEqual(self.shown_rows()[0], "jacobi_64")

    def test_table_filters_and_so_do_the_plots(self):
        self.open(self.many)
        search = self.one("#cases-controls input")
        search.send_keys("jacobi iterations>100")
        self.assertEqual(self.shown_rows(), ["jacobi_32", "jacobi_64"])
        self.assertEqual(self.one("#cases-controls output").text, "2 of 6 rows")
        self.assertEqual(sum(self.visible()), 4)
        self.assertEqual(self.ask("Chart.getChart('scaling').data.datasets.map(d => d.data.length)"), [2])
        search.send_keys(Keys.CONTROL, "a")
        search.send_keys(Keys.BACKSPACE)
        self.assertEqual(len(self.shown_rows()), 6)
        self.assertEqual(sum(self.visible()), 12)

    def test_scaling_draws_what_is_chosen(self):
        self.open(self.many)
        labels = self.ask("Chart.getChart('scaling').data.datasets.map(d => d.label)")
        self.assertEqual(labels, ["struct_ilu", "jacobi"])
        Select(self.one("#scaling-y")).select_by_visible_text("iterations")
        Select(self.one("#scaling-x")).select_by_visible_text("cells")
        self.assertEqual(self.ask("Chart.getChart('scaling').data.datasets[0].data.map(p => [p.x, p.y])"),
                         [[16, 20], [32, 40], [64, 80]])
        self.assertEqual(self.ask("Chart.getChart('scaling').scales.x.type"), "logarithmic")
        self.one("#scaling-linear").click()
        self.assertEqual(self.ask("Chart.getChart('scaling').scales.x.type"), "linear")
        self.assertEqual(self.point_at("scaling", 1, 2), ["jacobi", "jacobi_64", "cells 64", "iterations 240"])

    def test_print_has_the_pictures(self):
        self.open(self.few)
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        self.addCleanup(self.driver.execute_cdp_cmd, "Emulation.setEmulatedMedia", {"media": ""})
        self.assertTrue(self.one("figure.still svg").is_displayed())
        self.assertFalse(any(part.is_displayed() for part in self.all(".live")))

    def test_dark_pages_have_light_letters(self):
        self.open(self.few)
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                    {"features": [{"name": "prefers-color-scheme", "value": "dark"}]})
        self.addCleanup(self.driver.execute_cdp_cmd, "Emulation.setEmulatedMedia", {"features": []})
        self.assertEqual(self.ask("getComputedStyle(document.body).color"), "rgb(255, 255, 255)")
        WebDriverWait(self.driver, 10).until(
            lambda _: self.ask("Chart.getChart('by-time').options.scales.x.ticks.color") == "rgb(255, 255, 255)")

    def widen(self, width):
        """Lays the page out for this many pixels."""
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})
        self.addCleanup(self.driver.execute_cdp_cmd, "Emulation.clearDeviceMetricsOverride", {})

    OVERFLOWING = ("[...document.querySelectorAll('.scroll')].filter(e => e.offsetParent && "
                   "e.scrollWidth > e.clientWidth + 1).map(e => e.querySelector('caption').textContent)")

    def test_no_page_is_wider_than_its_window(self):
        for address in (self.few, self.many, self.march):
            self.open(address)
            self.driver.execute_script("document.querySelectorAll('details').forEach(d => { d.open = true; })")
            for width in (500, 900, 1280):
                self.widen(width)
                WebDriverWait(self.driver, 10).until(
                    lambda _: self.ask("document.documentElement.scrollWidth <= document.documentElement.clientWidth"))

    def test_tables_fit_a_window_of_1280_pixels_and_paper(self):
        for address in (self.few, self.many, self.march):
            self.open(address)
            self.driver.execute_script("document.querySelectorAll('details').forEach(d => { d.open = true; })")
            self.widen(1280)
            self.assertEqual(self.ask(self.OVERFLOWING), [])
            self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
            self.addCleanup(self.driver.execute_cdp_cmd, "Emulation.setEmulatedMedia", {"media": ""})
            self.widen(718)  # A4 with margins of 10 mm
            self.assertLessEqual(self.ask("document.documentElement.scrollWidth"), 718)
            self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})

    def test_what_matters_comes_first(self):
        self.open(self.many)
        heads = [head.text for head in self.all("#cases thead th")]
        self.assertEqual(heads[:6], ["run", "preconditioner", "cells", "ended", "iterations", "total [s]"])

    def test_residuals_of_many_solves_are_drawn_when_asked_for(self):
        self.open(self.march)
        self.assertIn("energy", self.one("figure svg").get_attribute("aria-label"))
        self.assertFalse(self.ask("document.querySelector('details.teeth').open"))
        self.one("details.teeth summary").click()
        WebDriverWait(self.driver, 10).until(lambda _: self.ask("Chart.getChart('by-iteration').chartArea.width > 200"))
        self.assertTrue(self.one("#by-iteration").is_displayed())


if __name__ == "__main__":
    unittest.main()
