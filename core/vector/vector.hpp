// SPDX-License-Identifier: BSD-3-Clause
// Vector: the values of a grid function, component by component, slots fastest.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/device/context.hpp"
#include "core/grid/layout.hpp"

namespace hyperplane {

/// values[component][slot], `dof` components of layout.slots() values each; initially zero.
class Vector {
public:
    Vector() = default;
    Vector(const Context& context, const Layout& layout, int dof, std::string label)
        : layout_(layout), dof_(dof), values_(context, std::move(label), layout.slots() * dof) {}

    const Layout& layout() const { return layout_; }
    int dof() const { return dof_; }
    Index size() const { return values_.size(); }
    Backend backend() const { return values_.backend(); }
    double* data() { return values_.data(); }
    const double* data() const { return values_.data(); }
    double* component(int c) { return values_.data() + c * layout_.slots(); }
    const double* component(int c) const { return values_.data() + c * layout_.slots(); }
    double& operator()(Int3 point, int c = 0) { return component(c)[layout_.slot(point)]; }
    double operator()(Int3 point, int c = 0) const { return component(c)[layout_.slot(point)]; }

private:
    Layout layout_;
    int dof_ = 0;
    Buffer<double> values_;
};

/// to = from, between any two backends; layouts and dof must be equal.
void transfer(const Vector& from, Vector& to);
/// The vector itself if the host can read it, otherwise a copy that is stored in `copy`.
const Vector& on_host(const Vector& x, Vector& copy);

/// The values in natural order, dof fastest, from either backend.
std::vector<double> to_natural(const Vector& x);
/// The inverse of to_natural; throws FileError if the sizes differ.
void from_natural(std::span<const double> values, Vector& x);

}  // namespace hyperplane
