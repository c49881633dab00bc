# SPDX-License-Identifier: BSD-3-Clause
"""Exit code 7 of the program, for files, disks and standard streams, and what its message must say."""

import json
import os
import signal
import subprocess
import unittest

from program import MATRIX, POISSON, PROGRAM, TRANSPORT, ProgramTest, chain, few_addresses, small_files


class Files(ProgramTest):
    """7: a file that is missing, broken or cannot be written."""

    def test_missing(self):
        self.expect(7, "run", "nowhere.ini", says="nowhere.ini")
        deck = self.write("a.ini", MATRIX.format(matrix="nowhere.mtx", cells="5 1 1", solver="gmres"))
        self.expect(7, "run", deck, says="nowhere.mtx")
        self.expect(7, "info", "nowhere.h5", says="nowhere.h5")

    def test_the_message_of_a_file_that_the_deck_names_begins_with_its_place_there(self):
        """deck.ini:LINE: section.key: FILE: why"""
        general = "[problem]\nname = matrix\nfile = {}\nright_hand_side = {}\n[solver]\nname = gmres\n"
        self.write("a.mtx", chain([4.0] * 5))
        missing = "cannot read: No such file or directory"
        for verb in ("run", "check"):
            deck = self.write("a.ini", general.format("none.mtx", "xones"))
            self.expect(7, verb, deck, says=f"error: a.ini:3: problem.file: none.mtx: {missing}")
            self.expect(7, verb, deck, "--set", "problem.file=other.mtx",
                        says=f"error: --set: problem.file: other.mtx: {missing}")
            deck = self.write("b.ini", general.format("a.mtx", "none.mtx"))
            self.expect(7, verb, deck, says=f"error: b.ini:4: problem.right_hand_side: none.mtx: {missing}")
            deck = self.write("c.ini", MATRIX.format(matrix="none.mtx", cells="5 1 1", solver="gmres"))
            self.expect(7, verb, deck, says=f"error: c.ini:4: problem.matrix: none.mtx: {missing}")
            deck = self.write("d.ini", POISSON.format(cells=8) + "[initial]\nfile = none.h5\n")
            self.expect(7, verb, deck, says=f"error: d.ini:9: initial.file: none.h5: {missing}")
            field = "name = poisson\ncoefficient = file\ncoefficient_file = none.bin\ndiscretisation = cell"
            deck = self.write("e.ini", POISSON.format(cells=8).replace("name = poisson", field))
            self.expect(7, verb, deck, says=f"error: e.ini:5: problem.coefficient_file: none.bin: {missing}")
        self.expect(7, "check", "a.ini", "--header", "--backend", "cpu",
                    says=f"error: a.ini:3: problem.file: none.mtx: {missing}")

    def test_a_field_larger_than_the_memory(self):
        """check reads it, too, and does not name itself as what to do."""
        cells = 1250
        deck = self.write("e.ini", "[problem]\nname = poisson\ncoefficient = file\ncoefficient_file = e.bin\ndiscretisation = cell\n"
                                   f"[grid]\ncells = {cells} {cells} {cells}\n[device]\nbackend = cpu\n")
        self.write("e.bin", "")
        os.truncate(self.folder / "e.bin", 24 * cells**3)  # a file without data on the disk
        for verb in ("check", "run"):
            done = subprocess.run([PROGRAM, verb, deck], cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  preexec_fn=few_addresses(4 << 30))
            self.assertEqual(done.returncode, 6, done.stderr)
            self.assertIn("smaller grid", done.stderr)
            self.assertNotIn("hyperplane check", done.stderr)

    def test_truncated_matrix(self):
        self.write("a.mtx", chain([4.0] * 5)[:-20])
        deck = self.write("a.ini", MATRIX.format(matrix="a.mtx", cells="5 1 1", solver="gmres"))
        self.expect(7, "run", deck, says="a.mtx")

    def test_truncated_record(self):
        deck = self.write("a.ini", POISSON.format(cells=8))
        self.expect(0, "run", deck)
        whole = (self.folder / "a.h5").read_bytes()
        for length in (0, 7, 100, len(whole) // 2, len(whole) - 1):
            (self.folder / "b.h5").write_bytes(whole[:length])
            self.expect(7, "info", "b.h5", says="b.h5")
            self.expect(7, "diff", "a.h5", "b.h5", says="b.h5")

    def test_what_is_not_a_record_is_not_written_over(self):
        deck = self.write("a.ini", POISSON.format(cells=8))
        self.expect(7, "run", deck, "--set", "output.file=a.ini", says="a.ini exists")
        self.assertEqual((self.folder / "a.ini").read_text(), POISSON.format(cells=8))

    def test_folder_that_does_not_exist(self):
        deck = self.write("a.ini", POISSON.format(cells=8))
        for verb in ("run", "check"):
            self.expect(7, verb, deck, "--set", "output.file=no/such/a.h5",
                        says="the folder no/such does not exist, so no output can be written there; make it, or name another one")
        self.expect(7, "run", deck, "--set", "output.file=.", says=". is a folder, not a regular file")
        self.expect(7, "run", deck, "--set", "output.file=/proc/a.h5", says=["/proc/a.lock: cannot be made: ", "it is the lock of the output, which must be in a folder where files can be made"])
        study = self.write("s.ini", POISSON.format(cells=8) + "[sweep]\ngrid.cells = 4, 8\nfolder = /proc/s\n")
        self.expect(7, "study", "run", study, says=["/proc/s: the folder of the study's records cannot be made: ", "sweep.folder"])
        self.expect(2, "check", study, says="hyperplane study plan s.ini checks its cases")

    def test_what_cannot_be_written_is_refused_before_the_work(self):
        deck = self.write("a.ini", POISSON.format(cells=8))
        study = self.write("s.ini", POISSON.format(cells=8) + "[sweep]\ngrid.cells = 4, 8\n")
        benches = [("bench", kind, deck) for kind in ("solve", "preconditioners", "assembly", "products", "multigrid", "sweeps")]
        benches += [("bench", "vectors", "--unknowns", "8"), ("bench", "hpcg", "8", "8", "8"),
                    ("bench", "kernels", "--cases", "star7:1:8")]
        compare = ("compare", deck, "--preconditioners", "jacobi", "--reps", "1")
        for words in (*benches, compare):
            done = self.expect(7, *words, "--json", "no/out.json",
                               says="no/out.json: cannot create a file in no: No such file or directory; make the folder first")
            self.assertEqual(done.stdout, "", words)
        for file, why in (("a.ini/out.json", "Not a directory"), ("/proc/out.json", "cannot create a file in /proc"),
                          (".", ". is a folder"), ("", "'': is no file name")):
            self.assertEqual(self.expect(7, *compare, "--json", file, says=why).stdout, "")
        # A record that is missing, or results, would be the next error.
        for words, file in ((("report", "no.h5", "-o", "no/out.html"), "no/out.html"),
                            (("report", "no.h5", "--png", "no/out.png"), "no/out.png"),
                            (("plot", "no.h5", "-o", "no/out.svg"), "no/out.svg"),
                            (("study", "collect", study, "-o", "no/out"), "no/out.h5")):
            self.expect(7, *words, says=f"{file}: cannot create a file in no: No such file or directory")
        self.expect(7, "export", deck, "-o", "a.ini/e", says="a.ini/e is no folder and cannot be made one")
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"a.ini", "s.ini"})

    def test_a_folder_of_export_that_may_not_be_written_is_refused_before_the_work(self):
        """The set-up would fail."""
        system = MATRIX.format(matrix=self.write("a.mtx", chain([0.0] * 12, off=0.0)), cells="12 1 1", solver="gmres")
        deck = self.write("a.ini", system + "[preconditioner]\nname = struct_ilu\npivot_policy = fail\n")
        self.expect(5, "export", deck)
        os.symlink("no/b.mtx", self.folder / "b.mtx")
        self.expect(7, "export", deck, says="b.mtx: cannot create a file in ./no: No such file or directory")

    def test_a_file_that_may_not_be_read(self):
        deck = self.write("a.ini", POISSON.format(cells=8))
        self.write("b.h5", "kept")
        os.chmod(self.folder / "b.h5", 0)
        os.chmod(self.folder, 0o777)

        def nobody():
            if os.getuid() == 0:
                os.setuid(65534)

        self.expect(7, "compare", deck, "--preconditioners", "jacobi", "-o", "b.h5", limit=nobody,
                    says="b.h5 exists, and whether this program wrote it cannot be seen: Permission denied")

    def test_a_pipe_by_its_name_in_proc(self):
        deck = self.write("a.ini", POISSON.format(cells=8))
        self.expect(7, "run", deck, "--set", "output.file=/dev/stdout", says="/dev/stdout is a FIFO, not a regular file")

    def test_disk_full(self):
        deck = self.write("a.ini", POISSON.format(cells=16))
        self.expect(7, "run", deck, limit=small_files(), says="a.h5")
        self.assertFalse((self.folder / "a.h5").exists())

    def test_disk_full_at_the_end(self):
        """The verdict is printed where the record does not fit any more; its .part did."""
        deck = self.write("a.ini", POISSON.format(cells=16))
        self.expect(0, "run", deck)
        whole = (self.folder / "a.h5").stat().st_size
        self.expect(0, "info", "a.h5")
        for words in ((), ("--json",)):
            done = self.expect(7, "run", deck, "--set", "output.file=b.h5", *words, limit=small_files(whole - 16), says="b.h5: cannot write")
            if words:
                self.assertEqual(json.loads(done.stdout)["exit_code"], 7)
            else:
                self.assertRegex(done.stdout, r"(?s)iterations    \d+.*record        could not be written\nverdict       failed")
            self.assertTrue((self.folder / "b.h5.part").exists())
            self.assertFalse((self.folder / "b.h5").exists())

    def test_disk_full_for_the_fields(self):
        deck = self.write("a.ini", POISSON.format(cells=40))
        self.expect(7, "run", deck, "--set", "output.fields=true", limit=small_files(200000), says="a.vtkhdf")
        self.assertFalse((self.folder / "a.vtkhdf").exists())
        self.assertEqual(self.record("a.h5")["exit_code"], 7)

    def on_small_disk(self, bytes_there, command):
        """Runs a command of the shell in the scratch folder, in which disk/ is a file system of so many bytes."""
        (self.folder / "disk").mkdir(exist_ok=True)
        mounted = f"mount -t tmpfs -o size={bytes_there} none disk"
        if subprocess.run(["unshare", "-rm", "sh", "-c", mounted], cwd=self.folder, capture_output=True).returncode:
            self.skipTest("no small file system can be mounted here")
        return subprocess.run(["unshare", "-rm", "sh", "-c", f"{mounted} && {command}"], cwd=self.folder, text=True,
                              capture_output=True, timeout=300)

    def test_a_disk_without_room_for_state_and_final_fields(self):
        """It is seen before the work."""
        deck = self.write("a.ini", TRANSPORT.format(cells=24, steps=2))  # a state is 108 KiB
        run = f"{PROGRAM} run {deck} --set output.file=disk/a.h5"
        for bytes_there, more in ((102400, ""), (204800, " --set output.fields=true")):
            for verb in (run, run.replace(" run ", " check ")):
                done = self.on_small_disk(bytes_there, verb + more + "; code=$?; ls disk; exit $code")
                self.assertEqual(done.returncode, 7, done.stdout + done.stderr)
                self.assertIn("record, state and final fields take at least", done.stderr)
                self.assertNotIn("iteration", done.stdout + done.stderr)
                self.assertNotIn("a.h5", done.stdout)

    def test_a_record_that_did_not_fit_does_not_say_that_it_runs(self):
        deck = self.write("a.ini", TRANSPORT.format(cells=24, steps=2))
        self.expect(0, "run", deck, "--set", "output.state=never")
        small = (self.folder / "a.h5").stat().st_size
        self.expect(0, "run", deck, "--fresh")
        self.expect(7, "run", deck, "--set", "output.file=b.h5", limit=small_files(small + 20000), says="b.h5: cannot write")
        self.assertFalse((self.folder / "b.h5").exists())
        left = self.record("b.h5.part")
        self.assertEqual((left["status"], left["exit_code"]), ("failed", 7))
        self.assertIn("the record could not be written", left["message"])

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full here")
    def test_standard_output_full(self):
        with open("/dev/full", "w") as full:
            for words in (("list",), ("help", "--markdown")):  # less and more than a buffer holds
                self.expect(7, *words, stdout=full, says="error: standard output cannot be written: No space left on device")

    def test_a_reader_that_has_left_is_told_nothing(self):
        for words in (("list",), ("help", "--markdown")):  # less and more than a buffer holds
            reader, writer = os.pipe()
            os.close(reader)
            with os.fdopen(writer, "w") as left:
                self.assertEqual(self.expect(7, *words, stdout=left).stderr, "")

    def test_nothing_is_printed_into_files_where_standard_streams_are_closed(self):
        deck = self.write("a.ini", POISSON.format(cells=8))
        for stream in (0, 1, 2):
            process = subprocess.Popen([PROGRAM, "run", deck, "--fresh"], cwd=self.folder, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                       preexec_fn=lambda closed=stream: os.close(closed),
                                       env={**os.environ, "HYPERPLANE_STOP_AT": f"5:{signal.SIGSTOP}"})
            os.waitid(os.P_PID, process.pid, os.WSTOPPED)
            lock = (self.folder / "a.lock").read_text()
            process.send_signal(signal.SIGCONT)
            self.assertEqual(process.wait(), 7 if stream == 1 else 0)
            self.assertIn("hyperplane lock", lock)
            self.assertNotIn("iteration", lock, f"with stream {stream} closed")


if __name__ == "__main__":
    unittest.main()
