// SPDX-License-Identifier: BSD-3-Clause
#include "precond/checks/applications.hpp"

#include "core/device/for_each_point.hpp"
#include "core/grid/neighbour_slot.hpp"
#include "core/matrix/views.hpp"
#include "core/vector/blas1.hpp"
#include "precond/checks/errors.hpp"
#include "precond/checks/general_applications.hpp"
#include "precond/factors/exported.hpp"
#include "precond/sweep_options.hpp"
#include "precond/walks/wavefront.hpp"

namespace hyperplane {
namespace {

/// Factors in one storage; the type Factors is one of the alternatives of TriangleFactors.
template <class Factors>
struct Triangles {
    Factors f;
    int dof;

    HYPERPLANE_HD int first(Side side) const { return side == Side::lower ? 0 : f.lower + 1; }
    /// out -= the sum of T x over the neighbours in one triangle T.
    HYPERPLANE_HD void subtract(Side side, Int3 p, Index slot, const ConstVectorView& x, double* out) const {
        for (int e = first(side); e < first(side) + f.lower; ++e) {
            const Int3 q = p + f.offsets[e];
            if (!f.layout.grid().contains(q)) continue;
            for (int c = 0; c < dof; ++c)
                for (int r = 0; r < dof; ++r) out[r] -= f.at(e, slot, f.layout.slot(q), r, c) * x(q, c);
        }
    }
    /// out = D^-1 in
    HYPERPLANE_HD void multiply_inverse(Index slot, const double* in, double* out) const {
        for (int r = 0; r < dof; ++r) {
            out[r] = 0.0;
            for (int c = 0; c < dof; ++c) out[r] += f.inverse_at(slot, r, c) * in[c];
        }
    }
    /// v = D v
    HYPERPLANE_HD void multiply_pivot(Index slot, double* v) const {
        divide_by_block(
            dof, [&](int r, int c) { return f.inverse_at(slot, r, c); }, v);
    }
};

/// Computes from z the result that the lower solve must have had, y = z + D^-1 F z or v = D (z + G z), and compares it
/// with y = D^-1 (r - E y) or v = r - W v.
template <class Factors>
struct SolveCheck {
    Triangles<Factors> factors;
    ConstVectorView r, z;
    Index every;
    double* most;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        if (slot % every != 0) return;
        const Factors& f = factors.f;
        const int dof = factors.dof;
        double found[max_dof], near[max_dof], sum[max_dof], expected[max_dof];
        lower_result(p, slot, found);
        for (int c = 0; c < dof; ++c) sum[c] = r.at(slot, c);
        for (int e = 0; e < f.lower; ++e) {
            const Int3 q = p + f.offsets[e];
            if (!f.layout.grid().contains(q)) continue;
            const Index there = f.layout.slot(q);
            lower_result(q, there, near);
            for (int c = 0; c < dof; ++c)
                for (int i = 0; i < dof; ++i) sum[i] -= f.at(e, slot, there, i, c) * near[c];
        }
        if (!f.unit) factors.multiply_inverse(slot, sum, expected);
        for (int c = 0; c < dof; ++c) {
            raise(most, magnitude(found[c] - (f.unit ? sum : expected)[c]));
            raise(most + 1, magnitude(found[c]));
        }
    }
    HYPERPLANE_HD void lower_result(Int3 p, Index slot, double* out) const {
        const int dof = factors.dof;
        double sum[max_dof] = {}, scaled[max_dof];
        factors.subtract(Side::upper, p, slot, z, sum);
        if (!factors.f.unit) factors.multiply_inverse(slot, sum, scaled);
        for (int c = 0; c < dof; ++c) out[c] = z.at(slot, c) - (factors.f.unit ? sum : scaled)[c];
        if (factors.f.unit) factors.multiply_pivot(slot, out);
    }
};

/// out <- D^-1 (b - E x), b - D^-1 F x, b - W x or b - G x
template <class Factors>
struct ObviousSweep {
    Triangles<Factors> factors;
    Side side;
    ConstVectorView b, x;
    VectorView out;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        const int dof = factors.dof;
        const bool lower = side == Side::lower, scales = !factors.f.unit;
        double sum[max_dof], scaled[max_dof];
        for (int c = 0; c < dof; ++c) sum[c] = lower ? b.at(slot, c) : 0.0;
        factors.subtract(side, p, slot, x, sum);
        if (scales) factors.multiply_inverse(slot, sum, scaled);
        for (int c = 0; c < dof; ++c) out.at(slot, c) = (lower ? 0.0 : b.at(slot, c)) + (scales ? scaled : sum)[c];
    }
};

/// out = D^-1 x
template <class Factors>
struct ObviousScaling {
    Triangles<Factors> factors;
    ConstVectorView x;
    VectorView out;

    HYPERPLANE_HD void operator()(Int3, Index slot) const {
        double in[max_dof], scaled[max_dof];
        for (int c = 0; c < factors.dof; ++c) in[c] = x.at(slot, c);
        factors.multiply_inverse(slot, in, scaled);
        for (int c = 0; c < factors.dof; ++c) out.at(slot, c) = scaled[c];
    }
};

/// Compares A_0 z with r.
struct DiagonalCheck {
    ConstMatrixView a;
    int diagonal;
    ConstVectorView r, z;
    double* most;

    HYPERPLANE_HD void operator()(Int3, Index slot) const {
        for (int i = 0; i < a.dof; ++i) {
            double sum = r.at(slot, i), largest = magnitude(sum);
            for (int c = 0; c < a.dof; ++c) {
                const double term = a.at(diagonal, i, c, slot) * z.at(slot, c);
                sum -= term;
                largest += magnitude(term);
            }
            raise(most, magnitude(sum));
            raise(most + 1, largest);
        }
    }
};

struct Difference {
    ConstVectorView x, y;
    int dof;
    double* most;  ///< largest difference, largest |y|

    HYPERPLANE_HD void operator()(Int3, Index slot) const {
        for (int c = 0; c < dof; ++c) {
            raise(most, magnitude(x.at(slot, c) - y.at(slot, c)));
            raise(most + 1, magnitude(y.at(slot, c)));
        }
    }
};

/// out = x + D^-1 (r - A x) / zero
struct FactorOfDegreeOne {
    ConstMatrixView a;
    const Int3* offsets;
    int size;
    double zero;
    ConstVectorView r, x;
    VectorView out;

    HYPERPLANE_HD void operator()(Int3 p, Index slot) const {
        const Layout& layout = r.layout;
        const int diagonal = size / 2;
        double sum[max_dof];
        for (int i = 0; i < a.dof; ++i) sum[i] = r.at(slot, i);
        for (int e = 0; e < size; ++e) {
            const Int3 q = layout.grid().wrapped(p + offsets[e]);
            if (!layout.grid().contains(q)) continue;
            const Index there = slot_of_neighbour(layout, q);
            const bool stored = e < a.stored_entries;
            for (int i = 0; i < a.dof; ++i)
                for (int c = 0; c < a.dof; ++c)
                    sum[i] -= (stored ? a.at(e, i, c, slot) : a.at(size - 1 - e, c, i, there)) * x.at(there, c);
        }
        divide_by_block(
            a.dof, [&](int i, int c) { return a.at(diagonal, i, c, slot); }, sum);
        for (int i = 0; i < a.dof; ++i) out.at(slot, i) = x.at(slot, i) + sum[i] / zero;
    }
};

double bound_of(FactorStorage storage, double single, double half) {
    return storage == FactorStorage::single_precision ? single
           : storage == FactorStorage::half_scaled    ? half
                                                      : bound_of_double();
}

/// Distance between the slots of a sample: 1, or more if a check of all points would take more than 4e9 operations.
Index step_of_sample(Index slots, int lower, int dof) {
    const double products = double(lower + 1) * (lower + 2) + double(dof) * (lower + 1);  // and a pivot for each
    return 1 + Index(2.0 * products * dof * dof * double(slots) / 4e9);
}

/// The sweeps of JacobiSolve, each as a loop over points.
template <class Factors>
void sweep(const Triangles<Factors>& factors, const SweepOptions& options, const Vector& r, Vector& lower, Vector& x,
           Vector& out) {
    const Layout& layout = factors.f.layout;
    const auto run = [&](Side side, int sweeps, const Vector& b) {
        fill(x, 0.0);
        for (int at = 0; at < sweeps; ++at) {
            for_each_point(b.context(), layout, "check of sweeps",
                           ObviousSweep<Factors>{factors, side, view(b), view(std::as_const(x)), view(out)});
            std::swap(x, out);
        }
    };
    run(Side::lower, options.lower, r);
    if (factors.f.unit)
        for_each_point(r.context(), layout, "check of sweeps",
                       ObviousScaling<Factors>{factors, view(std::as_const(x)), view(lower)});
    else
        std::swap(x, lower);
    run(Side::upper, options.upper, lower);
}

}  // namespace

double bound_of_double() {
    return 1e-10;
}

double bound_of_rounding(FactorStorage storage) {
    return bound_of(storage, 1e-5, 5e-2);
}

double bound_of_ties(FactorStorage storage) {
    return bound_of(storage, 1e-7, 1e-3);
}

double largest_difference(const Context& context, const Vector& x, const Vector& y) {
    if (!x.space().has_grid()) {
        const std::vector<double> of_x = to_natural(x), of_y = to_natural(y);
        double largest = 0.0, scale = 0.0;
        for (std::size_t at = 0; at < of_x.size(); ++at)
            raise(&largest, magnitude(of_x[at] - of_y[at])), raise(&scale, magnitude(of_y[at]));
        return largest / scale;
    }
    Maxima most(context);
    for_each_point(x.context(), x.layout(), "difference", Difference{view(x), view(y), x.dof(), most.data()});
    return most.relative();
}

double solve_error(const Context& context, const TriangleFactors& factors, const Vector& r, const Vector& z) {
    return std::visit(
        [&](const auto& f) {
            Maxima most(context);
            const Index every = step_of_sample(f.layout.slots(), f.lower, r.dof());
            const SolveCheck<std::decay_t<decltype(f)>> check{{f, r.dof()}, view(r), view(z), every, most.data()};
            for_each_point(r.context(), f.layout, "check of solves", check);
            return most.relative();
        },
        factors);
}

double swept_error(const Context& context, const TriangleFactors& factors, const SweepOptions& options, const Vector& r,
                   const Vector& z) {
    Vector lower(context, r.layout(), r.dof(), "bench"), x(context, r.layout(), r.dof(), "bench"),
        out(context, r.layout(), r.dof(), "bench");
    std::visit(
        [&](const auto& f) {
            sweep(Triangles<std::decay_t<decltype(f)>>{f, r.dof()}, options, r, lower, x, out);
        },
        factors);
    return largest_difference(context, z, x);
}

double diagonal_error(const StructMatrix& a, const Vector& r, const Vector& z) {
    Maxima most(a.context());
    for_each_point(r.context(), a.layout(), "check of a diagonal",
                   DiagonalCheck{view(a), a.stencil().diagonal(), view(r), view(z), most.data()});
    return most.relative();
}

double polynomial_error(const StructMatrix& a, const std::vector<double>& zeros, const Vector& r, const Vector& z) {
    const Context& context = a.context();
    Vector x(context, r.layout(), r.dof(), "check"), out(context, r.layout(), r.dof(), "check");
    const Buffer<Int3> offsets = copied_to(context, "check", a.stencil().offsets());
    set_zero(x);
    for (const double zero : zeros) {
        for_each_point(r.context(), r.layout(), "check of a polynomial",
                       FactorOfDegreeOne{view(a), offsets.data(), a.stencil().size(), zero, view(r),
                                         view(std::as_const(x)), view(out)});
        std::swap(x, out);
    }
    return largest_difference(context, z, x);
}

ApplicationCheck check_solves(const Context& context, const TriangleFactors& factors, const Vector& r,
                              const Vector& z) {
    return {solve_error(context, factors, r, z), bound_of_double(), ""};
}

ApplicationCheck check_sweeps(const Context& context, const TriangleFactors& factors, const SweepOptions& options,
                              const Vector& r, const Vector& z) {
    if (options.mode != SweepMode::sync) return no_check_of_asynchronous_sweeps();
    return {swept_error(context, factors, options, r, z), bound_of_double(), ""};
}

ApplicationCheck check_exported(const StructMatrix& a, FactorStorage storage, const Vector& r, const Vector& z,
                                const Preconditioner::MakeInDouble& in_double) {
    if (!(FactorCopy::layout(a.layout(), a.backend()) == a.layout()))
        return {.unchecked = "the copies of ranks on GPUs are on another grid than the vectors"};
    const std::unique_ptr<Preconditioner> pair = in_double();
    SetupReport report = pair->setup(a);
    FactorCopy copy(storage);
    copy.fill(dynamic_cast<const ExportsFactors&>(*pair), a, "check", report);
    return {solve_error(a.context(), copy.factors(), r, z), bound_of_ties(storage), ""};
}

ApplicationCheck check_by_another(const SystemMatrix& a, FactorStorage storage, const Vector& r, const Vector& z,
                                  const Preconditioner::MakeInDouble& another) {
    const std::unique_ptr<Preconditioner> other = another();
    other->setup(a);
    ApplicationCheck check = other->check_application(a, r, z, another);
    check.bound = bound_of_rounding(storage);
    return check;
}

}  // namespace hyperplane
