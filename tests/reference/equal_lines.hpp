// SPDX-License-Identifier: BSD-3-Clause
// Matrices most of whose lines along x are equal, for what computes or reads one of them in place of the others.
#pragma once

#include <map>
#include <vector>

#include "reference/block_matrix.hpp"

namespace hyperplane::reference {

/// A matrix whose coefficients depend on x alone, so that most of its lines are equal. Only the row and the column of
/// the point `other` have coefficients of their own.
inline StencilMatrix equal_lines(const Box& box, const std::vector<Offset>& offsets, int dof, bool symmetric,
                                 Offset other) {
    StencilMatrix a{box, offsets, dof, std::vector<std::map<Offset, Dense>>(box.points())};
    for (int row = 0; row < box.points(); ++row)
        for (const Offset o : offsets) {
            const Offset p = box.point(row), q = box.wrapped(p + o);
            if (!box.contains(q)) continue;
            const bool mirrored = symmetric && o < -o;
            const Offset from = mirrored ? q : p, to = mirrored ? -o : o;
            const int place = 100 * from.x + to.x + 3 * to.y + 9 * to.z + 50;
            Dense block = Random(place + (p == other || q == other ? 10000 : 0)).block(dof);
            if (o == Offset{})
                for (int r = 0; r < dof; ++r)
                    for (int c = 0; c <= r; ++c)
                        block(r, c) = block(c, r) += r == c ? 2.0 * dof * double(offsets.size()) : 0.0;
            Dense& own = a.blocks[row][o] = Dense(dof, dof);
            for (int r = 0; r < dof; ++r)
                for (int c = 0; c < dof; ++c) own(r, c) = mirrored ? block(c, r) : block(r, c);
        }
    return a;
}

}  // namespace hyperplane::reference
