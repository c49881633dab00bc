// SPDX-License-Identifier: BSD-3-Clause
// Singular systems with A 1 = 0: constants are projected out of everything the solver sees.
#pragma once

#include "core/interfaces/linear_operator.hpp"
#include "core/vector/blas1.hpp"

namespace hyperplane {

/// x -= mean(x), component by component.
inline void remove_mean(Vector& x) {
    for (int c = 0; c < x.dof(); ++c) add_constant(x, c, -sum(x, c) / double(x.space().all_block_rows()));
}

/// y = P A x with P the projection orthogonal to constants.
class MeanFreeOperator : public LinearOperator {
public:
    MeanFreeOperator(const Context& context, int dof, const LinearOperator& inner)
        : inner_(inner), sums_(context, "sums of components", dof) {}
    void apply(const Vector& x, Vector& y) const override {
        inner_.apply(x, y);
        project(y);
    }
    /// r = P (b - A x), where b has zero mean already.
    void residual(const Vector& b, const Vector& x, Vector& r) const override {
        inner_.residual(b, x, r);
        project(r);
    }
    Index bytes_per_apply() const override { return inner_.bytes_per_apply(); }

private:
    /// The same as remove_mean, but the sums stay in the vectors' memory and the host does not wait for them.
    void project(Vector& x) const {
        for (int c = 0; c < x.dof(); ++c) {
            double* total = sums_.data() + c;
            sum(x, c, total);
            add_constant(x, c, {-1.0 / double(x.space().all_block_rows()), total, nullptr});
        }
    }

    const LinearOperator& inner_;
    mutable Scalars sums_;
};

}  // namespace hyperplane
