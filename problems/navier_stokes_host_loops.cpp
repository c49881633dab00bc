// SPDX-License-Identifier: BSD-3-Clause
// The host's loops: the formulas are computed for several points of a run at once, one point in each lane of a Pack.
#include <algorithm>
#include <span>

#include "problems/navier_stokes_loops.hpp"

namespace hyperplane {
namespace {

/// The neighbourhoods of consecutive points of a run, one in each lane; lanes past the end of the run repeat its last
/// point.
class PackPatch {
public:
    using Number = Pack;
    using Place = int;
    const FlowStep& step;

    PackPatch(const FlowStep& of, const Run& run, int begin) : step(of) {
        const Int3 along = step.u.layout.step();
        for (int l = 0; l < Pack::lanes; ++l) {
            const int t = std::min(begin + l, run.count - 1);
            points_[l] = {run.first.x + t * along.x, run.first.y + t * along.y, run.first.z + t * along.z};
            read_lane(l);
        }
        for (int n = 0; n < 8; ++n)
            for (int l = 0; l < Pack::lanes; ++l) {
                const FlowBox<double> box = PointPatch{step, points_[l]}.box(n);
                for (int axis = 0; axis < 3; ++axis) boxes_[n].inverse_h[axis].v[l] = box.inverse_h[axis];
                boxes_[n].weight.v[l] = box.weight;
            }
    }
    int place(Int3 o) const { return (o.x + 1) + 3 * (o.y + 1) + 9 * (o.z + 1); }
    const Pack& value(int at, int c) const { return value_[at][c]; }
    const Pack& old(int at, int c) const { return old_[at][c]; }
    const Pack& rate(int at, int c) const { return rate_[at][c]; }
    const FlowBox<Pack>& box(int n) const { return boxes_[n]; }
    Pack::Flags fixed(int i) const {
        Pack::Flags flags;
        for (int l = 0; l < Pack::lanes; ++l) flags.at[l] = step.flow.fixed(points_[l], i);
        return flags;
    }
    Pack boundary_value(int i) const {
        Pack value(0.0);
        for (int l = 0; l < Pack::lanes; ++l)
            if (step.flow.fixed(points_[l], i)) value.v[l] = step.flow.boundary_value(i, points_[l], step.time);
        return value;
    }

private:
    void read_lane(int l) {
        const PointPatch patch{step, points_[l]};
        for (int at = 0; at < 27; ++at) {
            const Index slot = patch.place({at % 3 - 1, at / 3 % 3 - 1, at / 9 - 1});
            for (int c = 0; c < 4; ++c) {
                value_[at][c].v[l] = patch.value(slot, c);
                old_[at][c].v[l] = patch.old(slot, c);
                rate_[at][c].v[l] = patch.rate(slot, c);
            }
        }
    }
    Int3 points_[Pack::lanes];
    Pack value_[27][4], old_[27][4], rate_[27][4];
    FlowBox<Pack> boxes_[8];
};

/// Sums, by block of the matrix, of the contributions of the elements around some points. For each side in z there are
/// the 9 blocks of the neighbouring layer (outwards) and the side's share of the 9 blocks in the points' own layer
/// (inwards).
struct BlockSums {
    Pack outwards[2][9][4][4], inwards[2][9][4][4];

    BlockSums() : outwards{}, inwards{} {}
    /// Adds the contribution of element n at its corner b.
    void add(int n, int b, int row, int col, const Pack& value) {
        const int x = q1::bit(n, 0) ? 1 + q1::bit(b, 0) : 1 - q1::bit(b, 0);
        const int y = q1::bit(n, 1) ? 1 + q1::bit(b, 1) : 1 - q1::bit(b, 1);
        (q1::bit(b, 2) ? outwards : inwards)[q1::bit(n, 2)][x + 3 * y][row][col] += value;
    }
};

/// Calls body(patch, first slot, number of points) for all points, Pack::lanes at a time.
template <class Body>
void for_each_pack(const Context& context, const FlowStep& step, const Body& body) {
    for_each_run(context, step.u.layout, 4, [&](const Run& run) {
        for (int begin = 0; begin < run.count; begin += Pack::lanes)
            body(PackPatch(step, run, begin), run.slot + begin, std::min(Pack::lanes, run.count - begin));
    });
}

}  // namespace

void flow_residual_on_host(const FlowStep& step, Vector& f) {
    const VectorView values = view(f);
    for_each_pack(f.context(), step, [&](const PackPatch& patch, Index slot, int points) {
        Pack sums[4] = {0.0, 0.0, 0.0, 0.0}, scale = 0.0;
        for (int n = 0; n < 8; ++n) {
            const PatchElement<PackPatch> element(patch, n);
            Pack part[4] = {0.0, 0.0, 0.0, 0.0};
            q1::add_residual(element, part);
            for (int c = 0; c < 4; ++c) sums[c] += part[c];
            scale += element.scale;
        }
        for (int c = 0; c < 4; ++c) {
            const Pack row = residual_entry(patch, c, scale, sums[c]);
            for (int l = 0; l < points; ++l) values.at(slot + l, c) = row.v[l];
        }
    });
}

void flow_jacobian_on_host(const FlowStep& step, StructMatrix& a) {
    const MatrixView values = view(a);
    for_each_pack(a.context(), step, [&](const PackPatch& patch, Index slot, int points) {
        BlockSums sums;
        Pack scale[2] = {Pack(0.0), Pack(0.0)};
        for (int n = 0; n < 8; ++n) {
            const PatchElement<PackPatch> element(patch, n);
            q1::CornerTerms<Pack> terms;
            Pack of_corners[8];
            const std::span<Pack, 8> transport(of_corners);
            q1::make_corner_terms(element, terms, transport);
            for_constants<4>([&](auto row) {
                q1::make_row<row>(element, terms, transport,
                                  [&](int b, int col, const Pack& value) { sums.add(n, b, row, col, value); });
            });
            scale[q1::bit(n, 2)] += element.scale;
        }
        const auto store = [&](int entry, int row, int col, const Pack& value) {
            if (entry >= values.stored_entries) return;
            double* to = &values.at(entry, row, col, slot);
            for (int l = 0; l < points; ++l) to[l] = value.v[l];
        };
        for (int row = 0; row < 4; ++row) {
            const Pack::Flags fixed = patch.fixed(row);
            for (int block = 0; block < 9; ++block)
                for (int col = 0; col < 4; ++col) {
                    const auto put = [&](int entry, const Pack& value) {
                        store(entry, row, col,
                              flow_entry(fixed, entry == 13 && col == row, scale[0] + scale[1], value));
                    };
                    put(block, sums.outwards[0][block][row][col]);
                    put(9 + block, sums.inwards[0][block][row][col] + sums.inwards[1][block][row][col]);
                    put(18 + block, sums.outwards[1][block][row][col]);
                }
        }
    });
}

}  // namespace hyperplane
