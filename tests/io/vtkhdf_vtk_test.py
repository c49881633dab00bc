# SPDX-License-Identifier: BSD-3-Clause
"""Field files are opened by VTK's own reader, the one ParaView uses ($WRITE_FIELDS writes them)."""

import itertools
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    from vtkmodules.vtkCommonCore import vtkVersion
    from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline
    from vtkmodules.vtkIOHDF import vtkHDFReader
except ImportError as missing:
    print(f"skipped: no VTK with vtkHDFReader ({missing}); Debian has it in python3-vtk9")
    sys.exit(77)

VERSION = vtkVersion.GetVTKMajorVersion(), vtkVersion.GetVTKMinorVersion()


class VtkReader(unittest.TestCase):
    def read(self, path):
        """The image the reader makes, without a complaint."""
        reader = vtkHDFReader()
        complaints = []
        for event in ("ErrorEvent", "WarningEvent"):
            reader.AddObserver(event, lambda *_, event=event: complaints.append(event))
        self.assertTrue(reader.CanReadFile(path))
        reader.SetFileName(path)
        reader.Update()
        self.assertEqual(complaints, [])
        return reader.GetOutputDataObject(0)

    def check(self, extents, kind):
        path = str(pathlib.Path(self.folder) / "run.vtkhdf")
        subprocess.run([os.environ["WRITE_FIELDS"], path, *map(str, extents), kind], check=True)
        image = self.read(path)
        nx, ny, nz = extents[0], max(extents[1], 2), max(extents[2], 2)  # flat axes are doubled
        self.assertEqual(image.GetClassName(), "vtkImageData")
        self.assertEqual(image.GetExtent(), (0, nx - 1, 0, ny - 1, 0, nz - 1))
        self.assertEqual(image.GetSpacing(), (0.5, 0.25, 2.0))
        self.assertEqual(image.GetOrigin(), (1.0, 2.0, 3.0))
        self.assertEqual([image.GetDirectionMatrix().GetElement(row, col) for row in range(3) for col in range(3)],
                         [1, 0, 0, 0, 1, 0, 0, 0, 1])
        self.assertEqual((image.GetPointData().GetNumberOfArrays(), image.GetCellData().GetNumberOfArrays()), (3, 0))
        u, minus_u, both = (image.GetPointData().GetArray(name) for name in ("u", "minus u", "both"))
        self.assertEqual((u.GetNumberOfTuples(), u.GetNumberOfComponents(), u.GetDataTypeAsString()),
                         (nx * ny * nz, 1, "double"))
        for i, j, k in itertools.product(range(nx), range(ny), range(nz)):
            at = image.ComputePointId((i, j, k))
            self.assertEqual(image.GetPoint(at), (1 + 0.5 * i, 2 + 0.25 * j, 3 + 2.0 * k))
            self.assertEqual(u.GetValue(at), 100 * min(k, extents[2] - 1) + 10 * min(j, extents[1] - 1) + i)
            self.assertEqual(minus_u.GetValue(at), -u.GetValue(at))
            self.assertEqual(both.GetTuple(at), (u.GetValue(at), -u.GetValue(at), 0.0))

    def test_extents_and_values(self):
        with tempfile.TemporaryDirectory() as self.folder:
            for extents in ((7, 5, 3), (7, 5, 1), (7, 1, 3), (1, 5, 3), (7, 1, 1), (1, 1, 1)):
                for kind in ("point", "cell"):
                    with self.subTest(extents=extents, kind=kind):
                        self.check(extents, kind)

    @unittest.skipIf(VERSION < (9, 3), "VTK before 9.3 reads no series in time")
    def test_series(self):
        with tempfile.TemporaryDirectory() as self.folder:
            path = str(pathlib.Path(self.folder) / "run_series.vtkhdf")
            for extents in ((7, 5, 3), (7, 5, 1)):
                subprocess.run([os.environ["WRITE_FIELDS"], path, *map(str, extents), "series"], check=True)
                reader = vtkHDFReader()
                reader.SetFileName(path)
                reader.UpdateInformation()
                self.assertEqual(reader.GetNumberOfSteps(), 3)
                times = reader.GetOutputInformation(0).Get(vtkStreamingDemandDrivenPipeline.TIME_STEPS())
                self.assertEqual(times, (0.0, 0.5, 1.0))
                for number, time in enumerate(times):
                    reader.UpdateTimeStep(time)
                    image = reader.GetOutputDataObject(0)
                    u, both = (image.GetPointData().GetArray(name) for name in ("u", "both"))
                    at = image.ComputePointId((3, 2, 1))
                    self.assertEqual(u.GetValue(at), (number + 1) * (100 * min(1, extents[2] - 1) + 23))
                    self.assertEqual(both.GetTuple(at), (u.GetValue(at), -u.GetValue(at), 0.0))


if __name__ == "__main__":
    print(f"VTK {vtkVersion.GetVTKVersion()}")
    unittest.main()
