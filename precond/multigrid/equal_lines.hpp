// SPDX-License-Identifier: BSD-3-Clause
// Lines of the natural layout that hold the same values, so that what follows from them is computed once, on a CPU.
//
// Where coefficients are constant, or constant in parts of the domain, most lines of a matrix are copies of others. A
// line of interpolation weights or of a Galerkin product follows from the lines of the matrix and of weights around it.
// Where these are the same as around another line, the result is copied from there, with the same bits.
#pragma once

#include <vector>

#include "core/matrix/struct_matrix.hpp"

namespace hyperplane::multigrid {

class EqualLines {
public:
    /// Of arrays that are given by their value at slot 0. Only lines beside each other are compared, so equal lines can
    /// have different numbers.
    EqualLines(const Context& context, const Layout& layout, const std::vector<const double*>& arrays);
    explicit EqualLines(const StructMatrix& a);

    /// Lines with the same number hold the same bits in every array; -1 outside the grid, -2 outside memory.
    int number(int j, int k) const;
    /// Appends the numbers of the lines at most so far from a line.
    void append_around(int j, int k, int reach_y, int reach_z, std::vector<int>& numbers) const;

private:
    int ny_, nz_, begin_, end_;  ///< planes in memory
    std::vector<int> number_;
};

/// For each line of a layout a line to copy from, or the line itself.
class CopiedLines {
public:
    /// `append(j, k, numbers)` appends the numbers of all lines from which line (j, k) is computed.
    template <class Append>
    CopiedLines(const Layout& lines, const Append& append)
        : ny_(lines.grid().ny), begin_(lines.begin_plane()), from_(std::size_t(ny_) * lines.planes()) {
        std::vector<std::vector<int>> below(ny_), plane(ny_);
        for (int k = begin_; k < lines.end_plane(); ++k, below.swap(plane))
            for (int j = 0; j < ny_; ++j) {
                plane[j].clear();
                append(j, k, plane[j]);
                from_[at(j, k)] = j > 0 && plane[j] == plane[j - 1]    ? from_[at(j - 1, k)]
                                  : k > begin_ && plane[j] == below[j] ? from_[at(j, k - 1)]
                                                                       : Int3{0, j, k};
            }
    }

    /// Computes the lines that cannot be copied, by compute(run), and then the others, by copy(from, run), where `from`
    /// is the first point of a line that has been computed.
    template <class Compute, class Copy>
    void for_each_line(const Context& context, const Layout& lines, int work, const Compute& compute,
                       const Copy& copy) const {
        const auto is_own = [&](const Run& run) { return from_[at(run.first.y, run.first.z)] == run.first; };
        for_each_run(context, lines, work, [&](const Run& run) {
            if (is_own(run)) compute(run);
        });
        for_each_run(context, lines, 1, [&](const Run& run) {
            if (!is_own(run)) copy(from_[at(run.first.y, run.first.z)], run);
        });
    }

private:
    std::size_t at(int j, int k) const { return std::size_t(k - begin_) * ny_ + j; }

    int ny_, begin_;
    std::vector<Int3> from_;
};

}  // namespace hyperplane::multigrid
