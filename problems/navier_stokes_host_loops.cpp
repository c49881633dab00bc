// On the host several points of a run go through the formulas at once, one a lane of a Pack.
#include <algorithm>

#include "problems/navier_stokes_loops.hpp"

namespace hyperplane {
namespace {

/// The neighbourhoods of some consecutive points of a run, one a lane; lanes past the run's end repeat its last point.
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
                const q1::Box<double> box = PointPatch{step, points_[l]}.box(n);
                for (int axis = 0; axis < 3; ++axis) boxes_[n].inverse_h[axis].v[l] = box.inverse_h[axis];
                boxes_[n].weight.v[l] = box.weight;
            }
    }
    int place(Int3 o) const { return (o.x + 1) + 3 * (o.y + 1) + 9 * (o.z + 1); }
    const Pack& value(int at, int c) const { return value_[at][c]; }
    const Pack& old(int at, int c) const { return old_[at][c]; }
    const Pack& older(int at, int c) const { return older_[at][c]; }
    const q1::Box<Pack>& box(int n) const { return boxes_[n]; }
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
                if (step.older.values) older_[at][c].v[l] = patch.older(slot, c);
            }
        }
    }
    Int3 points_[Pack::lanes];
    Pack value_[27][4], old_[27][4], older_[27][4];
    q1::Box<Pack> boxes_[8];
};

template <class Terms, class Store>
void store_momentum(const PackPatch& patch, const Terms& terms, int i, const Store& store) {
    MomentumRow<Pack> quarters[4];
    for (int number = 0; number < 4; ++number) quarters[number] = momentum_row(patch, terms, i, Quarter(number));
    const Pack::Flags fixed = patch.fixed(i);
    const Pack scale = quarters[1].scale + quarters[2].scale;
    for (int block = 0; block < 9; ++block)
        for (int c = 0; c < 4; ++c) {
            const auto put = [&](int layer, const Pack& value) {
                store(9 * layer + block, i, c, momentum_entry(fixed, layer == 1 && block == 4 && c == i, scale, value));
            };
            put(0, quarters[0].blocks[block][c]);
            put(1, quarters[1].blocks[block][c] + quarters[2].blocks[block][c]);
            put(2, quarters[3].blocks[block][c]);
        }
}

template <class Terms, class Store>
void store_continuity(const PackPatch& patch, const Terms& terms, int column, const Store& store) {
    ContinuityColumn<Pack> quarters[4];
    for (int number = 0; number < 4; ++number)
        quarters[number] = continuity_column(patch, terms, column, Quarter(number));
    for (int block = 0; block < 9; ++block) {
        store(block, 3, column, quarters[0].blocks[block]);
        store(9 + block, 3, column, quarters[1].blocks[block] + quarters[2].blocks[block]);
        store(18 + block, 3, column, quarters[3].blocks[block]);
    }
}

/// body(patch, first slot, points) for all points, Pack::lanes at a time.
template <class Body>
void for_each_pack(const FlowStep& step, const Body& body) {
    for_each_run(step.u.layout, 4, [&](const Run& run) {
        for (int begin = 0; begin < run.count; begin += Pack::lanes)
            body(PackPatch(step, run, begin), run.slot + begin, std::min(Pack::lanes, run.count - begin));
    });
}

}  // namespace

void flow_residual_on_host(const FlowStep& step, const VectorView& f) {
    for_each_pack(step, [&](const PackPatch& patch, Index slot, int points) {
        Pack row[4];
        residual_row(patch, row);
        for (int c = 0; c < 4; ++c)
            for (int l = 0; l < points; ++l) f.at(slot + l, c) = row[c].v[l];
    });
}

void flow_jacobian_on_host(const FlowStep& step, const MatrixView& a) {
    for_each_pack(step, [&](const PackPatch& patch, Index slot, int points) {
        Pack values[8 * q1::CornerTerms<Pack>::count];
        const auto terms = [&](int n) { return q1::CornerTerms<Pack>{values + n * q1::CornerTerms<Pack>::count, 1}; };
        for (int n = 0; n < 8; ++n) q1::store_corner_terms(PatchElement(patch, n), 7 - n, terms(n));
        const auto store = [&](int entry, int row, int col, const Pack& value) {
            if (entry >= a.stored_entries) return;
            double* to = &a.at(entry, row, col, slot);
            for (int l = 0; l < points; ++l) to[l] = value.v[l];
        };
        for (int i = 0; i < 3; ++i) store_momentum(patch, terms, i, store);
        for (int column = 0; column < 4; ++column) store_continuity(patch, terms, column, store);
    });
}

}  // namespace hyperplane
