// SPDX-License-Identifier: BSD-3-Clause
#include "core/matrix/equal_lines.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace hyperplane {

EqualLines::EqualLines(const Context& context, const Layout& layout, const std::vector<const double*>& arrays)
    : nx_(layout.grid().nx),
      ny_(layout.grid().ny),
      nz_(layout.grid().nz),
      begin_(std::max(0, layout.begin_plane() - layout.halo())),
      end_(std::min(nz_, layout.end_plane() + layout.halo())),
      number_(std::size_t(ny_) * (end_ - begin_)) {
    const auto equal = [&](Int3 one, Int3 other) {
        return std::all_of(arrays.begin(), arrays.end(), [&](const double* values) {
            return std::memcmp(values + layout.slot(one), values + layout.slot(other), nx_ * sizeof(double)) == 0;
        });
    };
    enum Same : int { none, line_before, plane_before };
    const auto lines = Index(number_.size());
#pragma omp parallel for schedule(static) num_threads(context.threads_for(lines* nx_))
    for (Index at = 0; at < lines; ++at) {
        const Int3 own{0, int(at % ny_), begin_ + int(at / ny_)};
        number_[at] = own.y > 0 && equal(own, {0, own.y - 1, own.z})        ? line_before
                      : own.z > begin_ && equal(own, {0, own.y, own.z - 1}) ? plane_before
                                                                            : none;
    }
    for (Index at = 0; at < lines; ++at) {
        different_ += number_[at] == none;
        number_[at] = number_[at] == line_before    ? number_[at - 1]
                      : number_[at] == plane_before ? number_[at - ny_]
                                                    : int(at);
    }
}

EqualLines::EqualLines(const Layout& layout, std::vector<int> numbers)
    : nx_(layout.grid().nx),
      ny_(layout.grid().ny),
      nz_(layout.grid().nz),
      begin_(layout.begin_plane()),
      end_(layout.end_plane()),
      number_(std::move(numbers)) {
    for (std::size_t at = 0; at < number_.size(); ++at) different_ += number_[at] == int(at);
}

int EqualLines::number(int j, int k) const {
    if (j < 0 || j >= ny_ || k < 0 || k >= nz_) return -1;
    return k < begin_ || k >= end_ ? -2 : number_[std::size_t(k - begin_) * ny_ + j];
}

void EqualLines::append_around(int j, int k, int reach_y, int reach_z, std::vector<int>& numbers) const {
    for (int z = k - reach_z; z <= k + reach_z; ++z)
        for (int y = j - reach_y; y <= j + reach_y; ++y) numbers.push_back(number(y, z));
}

}  // namespace hyperplane
