#include "precond/factor_sweeps.hpp"

#include <cmath>

#include "core/views.hpp"
#include "precond/gauss_jordan.hpp"
#include "precond/known_dof.hpp"
#include "precond/level_points.hpp"

namespace hyperplane {
namespace {

/// What a sweep knows of the factors' pattern.
struct Tables {
    const Int3* offsets;
    const int* a_entry;  ///< of each entry, -1 where A has none
    const int* begin;    ///< of the updates of each lower entry, and their end
    const int* updates;  ///< pairs (u, e): X_e -= E_l D^-1 F_u
};

HYPERPLANE_HD bool is_finite(double x) {
    return x - x == 0.0;
}

/// All entries of one point; m is the dof where the compiler knows it.
template <int m>
struct SweepRow {
    FactorView old;  ///< the sweep before; E and F are A's for D-ILU
    Tables tables;
    ConstBlockView a;
    BlockView triangles, inverse;  ///< written; for D-ILU `inverse` alone
    int dof, kept;
    bool shares, updates;  ///< without updates: the initial guess
    double alpha, tolerance, boost;
    bool definite, last;
    VectorView ratio, failure, failed;

    static constexpr int room = m > 0 ? m : max_dof;

    HYPERPLANE_HD int size() const { return m > 0 ? m : dof; }
    HYPERPLANE_HD double& target(int e, Index slot, int r, int c) const {
        return e == old.lower ? inverse.at(0, slot, r, c) : triangles.at(e, slot, r, c);
    }

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        for (int e = shares ? old.lower : 0; e < (shares ? old.lower + 1 : kept); ++e) begin(p, slot, e);
        if (updates)
            for (int l = 0; l < old.lower; ++l) eliminate(p, slot, l);
        invert(slot);
    }

    /// X_e = A_e + alpha diag(A); zero where the neighbour is outside.
    HYPERPLANE_HD void begin(Int3 p, Index slot, int e) const {
        const bool inside = old.layout.grid().contains(p + tables.offsets[e]) && tables.a_entry[e] >= 0;
        for (int r = 0; r < size(); ++r)
            for (int c = 0; c < size(); ++c) {
                const double factor = e == old.lower && r == c ? 1.0 + alpha : 1.0;
                target(e, slot, r, c) = inside ? factor * a.at(tables.a_entry[e], slot, r, c) : 0.0;
            }
    }

    /// X_e -= E_l(p) D^-1(p+l) F_u(p+l) for all u and e = l + u, row by row.
    HYPERPLANE_HD void eliminate(Int3 p, Index slot, int l) const {
        const Grid& grid = old.layout.grid();
        const Int3 q = p + tables.offsets[l];
        if (!grid.contains(q)) return;
        const Index there = old.layout.slot(q);
        for (int r = 0; r < size(); ++r) {
            double w[room];
            for (int c = 0; c < size(); ++c) {
                w[c] = 0.0;
                for (int k = 0; k < size(); ++k) w[c] += old.at(l, slot, there, r, k) * old.inverse.at(0, there, k, c);
            }
            for (int at = tables.begin[l]; at < tables.begin[l + 1]; ++at) {
                const int u = tables.updates[2 * at], e = tables.updates[2 * at + 1];
                const Int3 end = p + tables.offsets[e];
                if (!grid.contains(end)) continue;
                const Index end_slot = old.layout.slot(end);
                for (int c = 0; c < size(); ++c) {
                    double sum = 0.0;
                    for (int k = 0; k < size(); ++k) sum += w[k] * old.at(u, there, end_slot, k, c);
                    target(e, slot, r, c) -= sum;
                }
            }
        }
    }

    /// D^-1 in D's place, and what is told of the last sweep's pivots.
    HYPERPLANE_HD void invert(Index slot) const {
        double block[room * room], scale = 0.0, smallest = 1.0, bad = 0.0;
        int component = -1;
        const int own_entry = tables.a_entry[old.lower];
        for (int r = 0; r < size(); ++r)
            for (int c = 0; c < size(); ++c) {
                const double value = inverse.at(0, slot, r, c), own = std::abs(a.at(own_entry, slot, r, c));
                block[r * size() + c] = value;
                scale = scale < own ? own : scale;
                scale = scale < std::abs(value) ? std::abs(value) : scale;
            }
        const int given_up = invert_in_place(size(), block, [&](int row, double pivot) {
            const double own = a.at(own_entry, slot, row, row);
            const bool wrong_sign = definite && pivot * own < 0.0;
            if (own != 0.0 && is_finite(pivot)) {
                const double ratio = wrong_sign ? 0.0 : std::abs(pivot / own);
                smallest = ratio < smallest ? ratio : smallest;
            }
            if (is_finite(pivot) && std::abs(pivot) > tolerance * scale && !wrong_sign) return pivot;
            if (component < 0) component = row, bad = pivot;
            const double guess = boost * scale;
            return last || !is_finite(guess) ? 0.0 : own < 0.0 ? -guess : guess;
        });
        for (int r = 0; r < size(); ++r)
            for (int c = 0; c < size(); ++c) inverse.at(0, slot, r, c) = given_up < 0 ? block[r * size() + c] : 0.0;
        if (!last) return;
        for (int e = 0; e < (shares ? 0 : kept) && component < 0; ++e) {
            if (e == old.lower) continue;
            for (int r = 0; r < size(); ++r)
                for (int c = 0; c < size(); ++c)
                    if (const double x = triangles.at(e, slot, r, c); !is_finite(x)) component = r, bad = x;
        }
        ratio.at(slot) = smallest;
        failure.at(slot) = component < 0 ? 0.0 : -1.0;
        failed.at(slot, 0) = component;
        failed.at(slot, 1) = bad;
    }
};

/// All entries of a point, which replace the old ones when they have been made.
template <int m>
struct ReplacedRow {
    SweepRow<m> made;
    BlockView triangles, inverse;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        made(p, slot);
        for (int e = made.shares ? made.old.lower : 0; e < (made.shares ? made.old.lower + 1 : made.kept); ++e)
            for (int r = 0; r < made.size(); ++r)
                for (int c = 0; c < made.size(); ++c)
                    (e == made.old.lower ? inverse.at(0, slot, r, c) : triangles.at(e, slot, r, c)) =
                        made.target(e, slot, r, c);
    }
};

/// D^-1 becomes (D^-1 + D^-T) / 2.
struct SymmetricPivot {
    BlockView inverse;
    int dof;

    HYPERPLANE_HD void operator()(Int3, Index slot) const {
        for (int r = 0; r < dof; ++r)
            for (int c = 0; c < r; ++c) {
                double &one = inverse.at(0, slot, r, c), &other = inverse.at(0, slot, c, r);
                one = other = 0.5 * (one + other);
            }
    }
};

/// W = E D^-1, G = D^-1 F at a point.
struct MakeUnit {
    Layout layout;
    const Int3* offsets;
    BlockView triangles;
    ConstBlockView inverse;
    int dof, lower, kept;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        double line[max_dof];
        for (int e = 0; e < kept; ++e) {
            const Int3 q = p + offsets[e];
            if (e == lower || !layout.grid().contains(q)) continue;
            const Index there = layout.slot(q);
            for (int i = 0; i < dof; ++i) {
                for (int j = 0; j < dof; ++j) {
                    line[j] = 0.0;
                    for (int k = 0; k < dof; ++k)
                        line[j] += e < lower ? triangles.at(e, slot, i, k) * inverse.at(0, there, k, j)
                                             : inverse.at(0, slot, j, k) * triangles.at(e, slot, k, i);
                }
                for (int j = 0; j < dof; ++j) triangles.at(e, slot, e < lower ? i : j, e < lower ? j : i) = line[j];
            }
        }
    }
};

/// To name A's blocks among places of factors; D-ILU writes none of them.
BlockView writable(const ConstBlockView& v) {
    return {const_cast<double*>(v.values), v.entry_stride, v.slot_stride, v.row_stride, v.col_stride};
}

/// In what order the points come, and where each goes once it has been made; both may be null.
struct Order {
    const Layout* levels;
    const FactorSweeps::Target* then;
};

/// m is the dof where the compiler knows it.
template <int m>
void visit(Backend backend, const Order& order, const SweepRow<0>& s) {
    const SweepRow<m> row{s.old,      s.tables, s.a,       s.triangles, s.inverse,   s.dof,
                          s.kept,     s.shares, s.updates, s.alpha,     s.tolerance, s.boost,
                          s.definite, s.last,   s.ratio,   s.failure,   s.failed};
    if (order.then)
        return for_each_point(backend, s.old.layout, "asynchronous sweep of a factorisation",
                              ReplacedRow<m>{row, order.then->triangles, order.then->inverse});
    if (!order.levels) return for_each_point(backend, s.old.layout, "sweep of a factorisation", row);
    for (int level = 0; level < order.levels->level_count(); ++level)
        for_each_point_of_level(backend, *order.levels, level, "elimination of a level", row);
}

void sweep(Backend backend, const Order& order, const SweepRow<0>& s) {
    with_known_dof<1, 2, 3, 4, 5, 8>(s.dof, [&](auto m) { visit<m.value>(backend, order, s); });
}

}  // namespace

FactorSweeps::FactorSweeps(const Context& context, const StructMatrix& a, const Stencil& filled, bool shares)
    : context_(context),
      shape_{a.layout(), a.stencil(), filled, a.dof(), a.symmetric(), shares},
      offsets_(copied_to(context, "sweeps", filled.offsets())),
      tables_(copied_to(context, "sweeps", update_tables(a.stencil(), filled, shape_.eliminations()))),
      ratios_(context, a.grid(), "sweeps"),
      failures_(context, a.grid(), "sweeps"),
      failed_(context, a.layout(), 2, "sweeps") {
    if constexpr (cuda_built)
        if (context.backend() == Backend::cuda && FactorSweepsCuda::serves(shape_))
            cuda_ = std::make_shared<FactorSweepsCuda>(shape_);
}

bool FactorSweeps::serves(const StructMatrix& a, const Stencil& filled, bool shares) const {
    return FactorSweepShape{a.layout(), a.stencil(), filled, a.dof(), a.symmetric(), shares} == shape_;
}

Index FactorSweeps::bytes(const FactorSweepShape& shape) {
    const auto tables = update_tables(shape.a, shape.filled, shape.eliminations());
    return shape.filled.size() * Index(sizeof(Int3)) + Index(tables.size() * sizeof(int)) +
           4 * shape.layout.grid().points() * Index(sizeof(double));
}

Index FactorSweeps::scratch_bytes([[maybe_unused]] const FactorSweepShape& shape, [[maybe_unused]] Backend backend) {
    if constexpr (cuda_built)
        if (backend == Backend::cuda) return FactorSweepsCuda::scratch_size(shape) * Index(sizeof(double));
    return 0;
}

Index FactorSweeps::bytes_of_sweep() const {
    const int stored = shape_.symmetric ? shape_.filled.diagonal() + 1 : shape_.filled.size();
    Index blocks = stored;
    for (const int e : shape_.eliminations().changed_entries()) blocks += 1 + (shape_.a.find(shape_.filled[e]) >= 0);
    return blocks * shape_.dof * shape_.dof * shape_.layout.slots() * Index(sizeof(double));
}

bool FactorSweeps::needs_spare([[maybe_unused]] const FactorSweepShape& shape, [[maybe_unused]] Backend backend,
                               FactorSweepMode mode) {
    if constexpr (cuda_built)
        if (mode == FactorSweepMode::async && backend == Backend::cuda) return !FactorSweepsCuda::serves(shape);
    return true;
}

void FactorSweeps::run(const StructMatrix& a, const Target& result, const Target& spare, int sweeps,
                       FactorSweepMode mode, double alpha, const PivotRules& rules, PivotInverter& inverter) {
    cuda_ ? run_kernels(a, result, spare, sweeps, mode, alpha, rules)
          : run_loops(a, result, spare, sweeps, mode, alpha, rules);
    if (mode == FactorSweepMode::async && shape_.symmetric && shape_.dof > 1) make_pivots_symmetric(result);
    report(a, inverter);
}

void FactorSweeps::run_loops(const StructMatrix& a, const Target& result, const Target& spare, int sweeps,
                             FactorSweepMode mode, double alpha, const PivotRules& rules) {
    if (mode == FactorSweepMode::async) {
        pass(a, spare, result, alpha, rules, {false, false, nullptr});
        for (int left = sweeps - 1; left >= 0; --left)
            pass(a, result, spare, alpha, rules, {true, left == 0, nullptr, &result});
        return;
    }
    for (int left = sweeps; left >= 0; --left) {
        const Target &to = left % 2 == 0 ? result : spare, &from = left % 2 == 0 ? spare : result;
        pass(a, from, to, alpha, rules, {left < sweeps, left == 0, nullptr});
    }
}

void FactorSweeps::make_pivots_symmetric(const Target& factors) const {
    for_each_point(offsets_.backend(), shape_.layout, "symmetric pivots", SymmetricPivot{factors.inverse, shape_.dof});
}

void FactorSweeps::run_kernels([[maybe_unused]] const StructMatrix& a, [[maybe_unused]] const Target& result,
                               [[maybe_unused]] const Target& spare, [[maybe_unused]] int sweeps,
                               [[maybe_unused]] FactorSweepMode mode, [[maybe_unused]] double alpha,
                               [[maybe_unused]] const PivotRules& rules) {
    if constexpr (cuda_built) {
        using enum FactorSweepsCuda::Pass;
        if (const Index size = FactorSweepsCuda::scratch_size(shape_); scratch_.size() != size)
            scratch_ = Buffer<double>(context_, "sweeps", size);
        const auto place = [&](const Target& x) {
            return Target{shape_.shares ? writable(block_view(a)) : x.triangles, x.inverse};
        };
        const Target places[] = {place(result), place(mode == FactorSweepMode::async ? result : spare)};
        const Target& guessed = places[sweeps % 2];
        // Of an even number of sweeps, and of asynchronous ones, `guessed` is the result: the last one writes entries
        // that never change while others read them, with the bits that they have already.
        for (int left = sweeps; left >= 0; --left)
            cuda_->run(left == sweeps ? guess
                       : left > 0     ? sweep
                                      : last,
                       a, scratch_.data(), guessed, places[(left + 1) % 2], places[left % 2], alpha, rules,
                       {ratios_.view(shape_.layout).values, failures_.view(shape_.layout).values, failed_.data()});
    }
}

void FactorSweeps::eliminate_by_level(const StructMatrix& a, const Layout& levels, const Target& factors, double alpha,
                                      const PivotRules& rules, PivotInverter& inverter) {
    pass(a, factors, factors, alpha, rules, {true, true, &levels});
    report(a, inverter);
}

void FactorSweeps::pass(const StructMatrix& a, const Target& from, const Target& to, double alpha,
                        const PivotRules& rules, const Pass& pass) {
    const int size = shape_.filled.size(), lower = shape_.filled.lower_size();
    const int* tables = tables_.data();
    const ConstBlockView matrix = block_view(a);
    SweepRow<0> row{};
    row.old = {shape_.layout,
               shape_.shares ? matrix : readable(from.triangles),
               readable(from.inverse),
               offsets_.data(),
               lower,
               shape_.symmetric};
    row.tables = {offsets_.data(), tables, tables + size, tables + size + lower + 1};
    row.a = matrix;
    row.triangles = to.triangles;
    row.inverse = to.inverse;
    row.dof = shape_.dof;
    row.kept = shape_.symmetric ? lower + 1 : size;
    row.shares = shape_.shares;
    row.updates = pass.updates;
    row.alpha = alpha;
    row.tolerance = rules.tolerance;
    row.boost = rules.boost;
    row.definite = shape_.symmetric;
    row.last = pass.last;
    row.ratio = ratios_.view(shape_.layout);
    row.failure = failures_.view(shape_.layout);
    row.failed = view(failed_);
    sweep(a.backend(), {pass.levels, pass.then}, row);
}

void FactorSweeps::report(const StructMatrix& a, PivotInverter& inverter) const {
    const PointValue smallest = ratios_.smallest(shape_.layout), first = failures_.smallest(shape_.layout);
    PivotRatio ratio;
    ratio.take(smallest.value, a.grid().row(smallest.point));
    PivotEvent event{};
    if (first.value < 0.0) {
        Vector copy;
        const Vector& failed = on_host(failed_, copy);
        event = {first.point, int(failed(first.point, 0)), failed(first.point, 1)};
    }
    inverter.adopt(Index(-failures_.sum()), event, 0, {}, ratio);
}

void FactorSweeps::make_unit(const Target& factors) {
    if constexpr (cuda_built)
        if (cuda_) return cuda_->make_unit(factors);
    const BlockView& d = factors.inverse;
    for_each_point(offsets_.backend(), shape_.layout, "unit triangles",
                   MakeUnit{shape_.layout,
                            offsets_.data(),
                            factors.triangles,
                            {d.values, d.entry_stride, d.slot_stride, d.row_stride, d.col_stride},
                            shape_.dof,
                            shape_.filled.lower_size(),
                            shape_.symmetric ? shape_.filled.lower_size() + 1 : shape_.filled.size()});
}

}  // namespace hyperplane
