# SPDX-License-Identifier: BSD-3-Clause
"""Exit codes 6 and 9 of the program, for memory and GPUs that a machine lacks, and what their messages must say."""

import json
import unittest

from program import POISSON, ProgramTest


class Memory(ProgramTest):
    """6: out of memory."""

    def test_memory_limit(self):
        deck = self.write("a.ini", POISSON.format(cells=32))
        self.expect(6, "run", deck, "--set", "device.memory_limit=1", says=["out of memory", "matrix", "total", "device.memory_limit allows no more"])
        self.assertEqual(self.record("a.h5")["exit_code"], 6)
        self.expect(6, "check", deck, "--set", "device.memory_limit=1")

    def test_each_allocation_may_be_the_one_that_fails(self):
        deck = self.write("a.ini", POISSON.format(cells=24))
        peak = self.run_json(0, "run", deck)["memory"]["peak"] / 2**20
        for part in range(1, 10):
            self.expect(6, "run", deck, "--set", f"device.memory_limit={peak * part / 10:.6f}", says="out of memory")
            self.assertEqual(self.record("a.h5")["status"], "failed")
        self.expect(0, "run", deck, "--set", f"device.memory_limit={peak + 1e-3:.6f}")

    def test_advice_names_keys_that_the_deck_has(self):
        deck = self.write("a.ini", POISSON.format(cells=24) + "[preconditioner]\nname = multigrid\n[device]\nbackend = cpu\n"
                          "memory_limit = 2\n")
        done = self.expect(6, "run", deck, "--set", "solver.name=cg", says=["it takes less with a smaller grid.cells", ", or with "
                           "preconditioner.storage = single, or with preconditioner.strength = 0, which coarsens all axes at once"])
        self.assertNotIn("fill_level", done.stderr)
        self.assertNotIn("restart", done.stderr)
        done = self.expect(6, "run", deck, "--set", "solver.name=gmres", "--set", "preconditioner.storage=single", "--set",
                           "preconditioner.strength=0", says="it takes less with a smaller grid.cells or solver.restart")
        self.assertNotIn("or with", done.stderr)

    def test_more_than_the_machine_has(self):
        deck = self.write("a.ini", POISSON.format(cells=8000))
        self.expect(6, "run", deck, says=["a.ini: the run needs", "it takes less with a smaller grid.cells; it holds\n", "matrix"])
        self.assertFalse((self.folder / "a.h5").exists())
        self.expect(6, "check", deck)


class Device(ProgramTest):
    """9: the requested device does not exist."""

    def setUp(self):
        super().setUp()
        listed = json.loads(self.expect(0, "list", "devices", "--json").stdout)["devices"]
        self.missing = listed.get("cuda", "")  # "not available: why" if no GPU can be used

    def test_cuda(self):
        if not self.missing:
            self.skipTest("there is a GPU here")
        deck = self.write("a.ini", POISSON.format(cells=8) + "[device]\nbackend = cuda\n")
        self.expect(9, "run", deck, says=["a.ini:9: device.backend", "no GPU can be used", self.missing[-20:]])
        self.expect(9, "run", deck, "--backend", "cuda", says="--set: device.backend")
        self.assertFalse((self.folder / "a.h5").exists())

    def test_check_predicts_for_a_gpu_that_is_not_here(self):
        if not self.missing or "without the CUDA backend" in self.missing:
            self.skipTest("a program built with CUDA, on a machine without a GPU, plans for one")
        deck = self.write("a.ini", POISSON.format(cells=33) + "[device]\nbackend = cuda\n")
        for words, ranks in (((), 1), (("--ranks", "3"), 3), (("--set", "matrix.format=general", "--set", "preconditioner.name=sync_free_ilu"), 1),
                             (("--set", "preconditioner.name=multigrid"), 1),
                             (("--ranks", "3", "--set", "preconditioner.name=multigrid", "--set", "smoother.scope=rank"), 3),
                             (("--ranks", "2", "--set", "preconditioner.name=multigrid", "--set", "smoother.name=subdomain_ildu0"), 2)):
            with self.subTest(words):
                told = json.loads(self.expect(0, "check", deck, *words, "--json").stdout)
                memory = told["memory"]
                self.assertEqual(memory["predicted"], sum(memory["by_label"].values()))
                self.assertGreaterEqual(memory["by_label"]["matrix"], 4 * 8 * 33**3 // ranks)
                self.assertEqual((told["memory_left"], told["fits"], told["ranks"]), (None, None, ranks))
                self.assertIn("whether it fits", told["not_known"][0])
                self.assertNotIn("estimate", told)
                self.assertIn("not here", told["device"])
        shown = self.expect(0, "check", deck).stdout
        self.assertIn("not known without a GPU, of which this machine has none:\n  whether it fits", shown)
        for limit, fits in (("1000", True), ("1", False)):
            words = ("check", deck, "--set", f"device.memory_limit={limit}")
            told = json.loads(self.expect(0 if fits else 6, *words, "--json").stdout)
            self.assertEqual((told["fits"], told["memory_left"]), (fits, int(limit) << 20))
            self.assertIn("allowed by device.memory_limit", self.expect(0 if fits else 6, *words).stdout)

    def test_auto_says_which_backend_it_chose(self):
        deck = self.write("a.ini", POISSON.format(cells=8))
        taken = "cpu" if self.missing else "cuda"
        self.expect(0, "run", deck, says=f"device.backend = auto takes {taken}")

    def test_a_gpu_for_a_run_on_a_cpu(self):
        deck = self.write("a.ini", POISSON.format(cells=8) + "[device]\ngpu = 1\n")
        self.expect(2, "run", deck, "--backend", "cpu", says="a.ini:9: device.gpu means nothing with device.backend = cpu")
        self.expect(0, "run", self.write("a.ini", POISSON.format(cells=8) + "[device]\ngpu ?= 1\n"), "--backend", "cpu")

    def test_gpu_that_is_not_there(self):
        deck = self.write("a.ini", POISSON.format(cells=8) + "[device]\ngpu = 99\n")
        self.expect(9, "run", deck, says="a.ini:9: device.gpu")


if __name__ == "__main__":
    unittest.main()
