// SPDX-License-Identifier: BSD-3-Clause
#include "core/vector/vector.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/ranks/cuts.hpp"
#include "core/vector/rows_on_host.hpp"

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

void copy_rows(const Vector& x, Index first, Index rows, double* to) {
    for (Index row = first; row < first + rows; ++row) {
        const Index at = x.space().slot(row) * x.step();
        for (int c = 0; c < x.dof(); ++c) *to++ = x.data()[x.first(c) + at];
    }
}

void set_rows(Vector& x, Index first, Index rows, const double* values) {
    for (Index row = first; row < first + rows; ++row) {
        const Index at = x.space().slot(row) * x.step();
        for (int c = 0; c < x.dof(); ++c) x.data()[x.first(c) + at] = *values++;
    }
}

HostCopy::HostCopy(Vector& x) : x_(x) {
    if (x.backend() == Backend::cuda) copy_ = Vector(x.context().host(), x.space(), x.dof(), "host copy");
}

void HostCopy::store() {
    if (x_.backend() == Backend::cuda) transfer(copy_, x_);
}

std::vector<double> own_rows(const Vector& x) {
    Vector copy;
    std::vector<double> values(static_cast<std::size_t>(x.size()));
    copy_rows(on_host(x, copy), 0, x.space().block_rows(), values.data());
    return values;
}

std::vector<double> to_natural(const Vector& x) {
    Vector copy;
    std::vector<double> values;
    // The first rank appends the others' values: room for all of them from the start, since growing holds them twice.
    const bool gathers = x.space().is_part() && is_first_rank(x.context());
    values.reserve(std::size_t((gathers ? x.space().all_block_rows() : x.space().block_rows()) * x.dof()));
    values.resize(std::size_t(x.size()));
    copy_rows(on_host(x, copy), 0, x.space().block_rows(), values.data());
    return x.space().is_part() ? on_first_rank(x.context(), std::move(values)) : values;
}

void from_natural(std::span<const double> values, Vector& x) {
    const Index all = x.space().all_block_rows() * x.dof();
    if (Index(values.size()) != all)
        throw FileError(fmt::format("a saved vector has {} values, this system's have {}", values.size(), all));
    HostCopy host(x);
    set_rows(host.vector(), 0, x.space().block_rows(), values.data() + x.space().first_block_row() * x.dof());
    host.store();
}

}  // namespace hyperplane
