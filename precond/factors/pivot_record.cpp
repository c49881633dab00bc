// SPDX-License-Identifier: BSD-3-Clause
#include "precond/factors/pivot_record.hpp"

namespace hyperplane {
namespace {

template <class T>
void copy_to(const std::vector<T>& from, Buffer<T>& to) {
    if (to.backend() == Backend::cuda)
        to.context().stream().copy(from.data(), to.data(), to.size() * Index(sizeof(T)));
    else
        std::copy(from.begin(), from.end(), to.begin());
}

template <class T>
std::vector<T> copy_of(const Buffer<T>& from) {
    std::vector<T> to(from.size());
    if (to.empty()) return to;
    if (from.backend() == Backend::cuda)
        from.context().stream().copy(from.data(), to.data(), from.size() * Index(sizeof(T)));
    else
        std::copy(from.begin(), from.end(), to.begin());
    return to;
}

}  // namespace

void PivotRecord::clear_log() {
    copy_to({empty_pivot_log()}, log_);
}

void PivotRecord::clear_ratios() {
    copy_to(std::vector<PivotRatio>(ratios_.size()), ratios_);
}

void PivotRecord::report(PivotInverter& inverter, PivotRatio other) const {
    for (const PivotRatio& one : copy_of(ratios_)) other.take(one.value, one.row);
    inverter.adopt(copy_of(log_)[0], other);
}

}  // namespace hyperplane
