// SPDX-License-Identifier: BSD-3-Clause
// Block rows of a vector, of a rank its own ones, as lists in the host's memory with dof fastest.
#pragma once

#include <vector>

#include "core/vector/vector.hpp"

namespace hyperplane {

/// Copies block rows of a vector in the host's memory, dof fastest, and sets them. `first` counts the rank's own rows.
void copy_rows(const Vector& x, Index first, Index rows, double* to);
void set_rows(Vector& x, Index first, Index rows, const double* values);

/// The vector itself if the host can write it, otherwise a vector in the host's memory that `store` copies to it.
class HostCopy {
public:
    explicit HostCopy(Vector& x);
    Vector& vector() { return x_.backend() == Backend::cuda ? copy_ : x_; }
    void store();

private:
    Vector& x_;
    Vector copy_;
};

/// The values of the rank's own block rows, on a grid in natural order; from either backend.
std::vector<double> own_rows(const Vector& x);

}  // namespace hyperplane
