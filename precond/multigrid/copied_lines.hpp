// SPDX-License-Identifier: BSD-3-Clause
// Lines that are computed from equal lines (core/matrix/equal_lines.hpp) are computed once and copied, on a CPU.
//
// A line of interpolation weights or of a Galerkin product follows from the lines of the matrix and of weights around
// it. Where these are the same as around another line, the result is copied from there, with the same bits.
#pragma once

#include <utility>
#include <vector>

#include "core/matrix/struct_matrix.hpp"

namespace hyperplane::multigrid {

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
    /// The equal lines of what was computed and copied, for a layout without halo.
    EqualLines equal_lines(const Layout& lines) const {
        std::vector<int> numbers;
        for (const Int3 from : from_) numbers.push_back(int(at(from.y, from.z)));
        return {lines, std::move(numbers)};
    }

private:
    std::size_t at(int j, int k) const { return std::size_t(k - begin_) * ny_ + j; }

    int ny_, begin_;
    std::vector<Int3> from_;
};

/// Appends the numbers of the lines at most so far from a line, across periodic boundaries, too. Where one is crossed
/// the list says so, since what is computed there may differ.
inline void append_around(const EqualLines& lines, const Grid& grid, Int3 at, int reach_y, int reach_z,
                          std::vector<int>& numbers) {
    constexpr int crosses = -3;
    for (int z = at.z - reach_z; z <= at.z + reach_z; ++z)
        for (int y = at.y - reach_y; y <= at.y + reach_y; ++y) {
            const Int3 there = grid.wrapped({0, y, z});
            if (there != Int3{0, y, z}) numbers.push_back(crosses);
            numbers.push_back(lines.number(there.y, there.z));
        }
}

/// Calls compute(run) for the runs of a layout, but copy(from, run) for a line that has the same coefficients as line
/// `from`, which has been computed, in itself and in the lines around it that hold coefficients of its rows.
template <class Compute, class Copy>
void for_each_different_run(const StructMatrix& a, const Compute& compute, const Copy& copy) {
    a.find_equal_lines();
    const EqualLines* const lines = a.equal_lines();
    if (!lines) return for_each_run(a.context(), a.layout(), 1, compute);
    const int reach = a.stencil().radius();
    const CopiedLines copied(a.layout(), [&](int j, int k, std::vector<int>& numbers) {
        append_around(*lines, a.grid(), {0, j, k}, reach, reach, numbers);
    });
    copied.for_each_line(a.context(), a.layout(), 1, compute, copy);
}

}  // namespace hyperplane::multigrid
