// SPDX-License-Identifier: BSD-3-Clause
// Vector: dof values for each block row of an index space.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/device/context.hpp"
#include "core/grid/index_space.hpp"

namespace hyperplane {

/// values[component][slot] on a grid, values[slot][component] on plain rows; initially zero.
class Vector {
public:
    Vector() = default;
    Vector(const Context& context, const IndexSpace& space, int dof, std::string label)
        : space_(space), dof_(dof), values_(context, std::move(label), space.slots_in_memory() * dof) {}

    const IndexSpace& space() const { return space_; }
    /// Throws Error (internal) if there is no grid.
    const Layout& layout() const { return space_.layout(); }
    int dof() const { return dof_; }
    Index size() const { return space_.block_rows() * dof_; }
    Backend backend() const { return values_.backend(); }
    const Context& context() const { return values_.context(); }
    /// The value at slot 0 of the first component. Where ranks have a part each, there is a halo before the first and
    /// after the last slot, on a grid of each component. It is no part of the vector's value.
    double* data() { return values_.data() + halo_values(); }
    const double* data() const { return values_.data() + halo_values(); }
    /// Number of values of the halo before data().
    Index halo_values() const { return space_.halo_slots() * step(); }
    /// All values in memory, those of halos included, for operations on each of them.
    Buffer<double>& memory() { return values_; }
    const Buffer<double>& memory() const { return values_; }
    /// The distance in data() between the values of one component at consecutive slots.
    Index step() const { return space_.has_grid() ? 1 : dof_; }
    /// The place in data() of component c at slot 0.
    Index first(int c) const { return space_.has_grid() ? c * space_.slots_in_memory() : c; }
    /// On a grid: the values of a component by slot, and the value at a point.
    double* component(int c) { return data() + c * space_.slots_in_memory(); }
    const double* component(int c) const { return data() + c * space_.slots_in_memory(); }
    /// The addresses of all components at slot 0.
    std::vector<double*> components() {
        std::vector<double*> all;
        for (int c = 0; c < dof_; ++c) all.push_back(component(c));
        return all;
    }
    double& operator()(Int3 point, int c = 0) { return component(c)[layout().slot(point)]; }
    double operator()(Int3 point, int c = 0) const { return component(c)[layout().slot(point)]; }

private:
    IndexSpace space_;
    int dof_ = 0;
    Buffer<double> values_;
};

/// to = from, between any two backends; index spaces and dof must be equal.
void transfer(const Vector& from, Vector& to);
/// The vector itself if the host can read it, otherwise a copy that is stored in `copy`.
const Vector& on_host(const Vector& x, Vector& copy);

/// The values by block row, which on a grid is natural order, dof fastest; from either backend. Those of all ranks on
/// rank 0, which every rank must call it for, and none on the others.
std::vector<double> to_natural(const Vector& x);
/// The inverse of to_natural; every rank takes its part of all values. Throws FileError if the sizes differ.
void from_natural(std::span<const double> values, Vector& x);

}  // namespace hyperplane
