// SPDX-License-Identifier: BSD-3-Clause
#include "core/vector/vector.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/ranks/cuts.hpp"

namespace hyperplane {
void transfer(const Vector& from, Vector& to) {
    copy_between(from.context(), from.memory().data(), to.context(), to.memory().data(),
                 from.memory().size() * Index(sizeof(double)));
}

const Vector& on_host(const Vector& x, Vector& copy) {
    if (x.backend() == Backend::cpu) return x;
    copy = Vector(x.context().host(), x.space(), x.dof(), "host copy");
    transfer(x, copy);
    return copy;
}

std::vector<double> to_natural(const Vector& x) {
    Vector copy;
    const Vector& readable = on_host(x, copy);
    std::vector<double> values;
    // The first rank appends the others' values: room for all of them from the start, since growing holds them twice.
    const bool gathers = x.space().is_part() && is_first_rank(x.context());
    values.reserve((gathers ? x.space().all_block_rows() : x.space().block_rows()) * x.dof());
    for (Index row = 0; row < x.space().block_rows(); ++row) {
        const Index at = x.space().slot(row) * x.step();
        for (int c = 0; c < x.dof(); ++c) values.push_back(readable.data()[x.first(c) + at]);
    }
    return x.space().is_part() ? on_first_rank(x.context(), std::move(values)) : values;
}

void from_natural(std::span<const double> values, Vector& x) {
    const Index all = x.space().all_block_rows() * x.dof();
    if (Index(values.size()) != all)
        throw FileError(fmt::format("a saved vector has {} values, this system's have {}", values.size(), all));
    Vector copy;
    if (x.backend() == Backend::cuda) copy = Vector(x.context().host(), x.space(), x.dof(), "host copy");
    Vector& writable = x.backend() == Backend::cuda ? copy : x;
    const double* const mine = values.data() + x.space().first_block_row() * x.dof();
    for (Index row = 0; row < x.space().block_rows(); ++row) {
        const Index at = x.space().slot(row) * x.step();
        for (int c = 0; c < x.dof(); ++c) writable.data()[x.first(c) + at] = mine[row * x.dof() + c];
    }
    if (&writable != &x) transfer(copy, x);
}

}  // namespace hyperplane
