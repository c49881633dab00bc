// StructILU's factorisation on a CPU: Algorithm 1, a run of points instead of a row.
#include <span>
#include <utility>

#include "precond/eliminations.hpp"
#include "precond/known_dof.hpp"
#include "precond/struct_ilu.hpp"
#include "precond/struct_ilu_cpu.hpp"

namespace hyperplane {
namespace struct_ilu_cpu {
namespace {

/// One elimination: X_e -= E_l D^-1 F_u with e = l + u.
struct Update {
    int u, e;
};

/// The updates of each lower entry l (LOOP3). With one triangle stored, F_u(p+l) is E of p + e; where
/// e lies along the run, that is a point of the same run, complete only when all entries off the run
/// are: such updates come after them.
struct EliminationPlan {
    std::vector<std::vector<Update>> updates, late;
};

EliminationPlan plan_elimination(const Factors& f, bool symmetric) {
    const Stencil& stencil = f.stencil;
    EliminationPlan plan;
    plan.updates.resize(stencil.lower_size());
    plan.late.resize(stencil.lower_size());
    const auto [begin, u, e] = Eliminations(stencil, false, symmetric).by_lower();
    for (int l = 0; l < stencil.lower_size(); ++l)
        for (int at = begin[l]; at < begin[l + 1]; ++at) {
            const bool waits = symmetric && e[at] < stencil.diagonal() && f.along_run(e[at]) && !f.along_run(l);
            (waits ? plan.late : plan.updates)[l].push_back({u[at], e[at]});
        }
    return plan;
}

class Factorisation {
public:
    /// `x` holds A + alpha diag(A) on the filled pattern; or, for D-ILU, its diagonal alone, E and F being
    /// read from the matrix and never written.
    Factorisation(const Factors& f, const StructMatrix& a, StructMatrix& x, PivotInverter& inverter)
        : f_(f), a_(a), x_(x), inverter_(inverter), plan_(plan_elimination(f, a.symmetric())) {}

    void piece(const Run& run) const {
        with_known_dof<1, 2, 3, 4, 5, 6, 7, 8>(f_.dof, [&](auto m) { piece<m.value>(run); });
    }

private:
    /// `m` is the dof where the compiler knows it.
    template <int m>
    void piece(const Run& run) const {
        std::array<int, max_along> along;
        int count = 0;
        for (int l = 0; l < f_.stencil.lower_size(); ++l) {
            if (f_.along_run(l))
                along[count++] = l;
            else
                eliminate<m>(run, l, plan_.updates[l]);
        }
        for (int l = 0; l < f_.stencil.lower_size(); ++l) eliminate<m>(run, l, plan_.late[l]);
        eliminate_points<m>(run, std::span(along.data(), count));
    }

    /// Where the blocks of a run's points lie.
    template <class T>
    struct Blocks {
        T* first;
        Index row_stride, col_stride;

        T& at(int t, int row, int col) const { return first[t + row * row_stride + col * col_stride]; }
    };
    /// place(row, col) is where the first point has this coefficient.
    template <class Place>
    static auto blocks(int dof, const Place& place) {
        auto* const first = place(0, 0);
        return Blocks<std::remove_pointer_t<decltype(first)>>{first, dof > 1 ? place(1, 0) - first : 0,
                                                              dof > 1 ? place(0, 1) - first : 0};
    }

    Blocks<double> target(const Run& run, int e) const {
        const int entry = e == f_.stencil.diagonal() ? f_.pivot_entry : e;
        return blocks(f_.dof, [&](int row, int col) { return x_.values(entry, row, col) + run.slot; });
    }
    Blocks<const double> triangle(const Run& run, const RunNeighbours& near, int e) const {
        return blocks(f_.dof, [&](int row, int col) { return f_.triangles.along(run, near, e, row, col); });
    }
    /// D^-1 of the neighbours.
    Blocks<const double> inverse(const RunNeighbours& near) const {
        return blocks(f_.dof, [&](int row, int col) { return f_.inverse(row, col, near.slot); });
    }

    /// X_e -= W F_u(p+l) at the points [begin, end) of a run, which have both neighbours.
    struct Term {
        Blocks<double> x;
        Blocks<const double> f;
        int begin, end;
    };
    /// `near` are the points p + l of a run's p.
    Term term_of(const Run& run, const RunNeighbours& near, int l, const Update& update) const {
        const Run before{run.first + f_.stencil[l], run.count, near.slot};
        const RunNeighbours there = f_.layout.neighbours(run, f_.stencil[update.e]);
        return {target(run, update.e), triangle(before, there, update.u), std::max(near.begin, there.begin),
                std::min(near.end, there.end)};
    }

    /// z += sign x y at the points [begin, end) of a run.
    template <int sign, int m, class X>
    void add_products(const Blocks<X>& x, const Blocks<const double>& y, const Blocks<double>& z, int begin,
                      int end) const {
        const int dof = m > 0 ? m : f_.dof;
        for (int row = 0; row < dof; ++row)
            for (int col = 0; col < dof; ++col) {
                double* const out = &z.at(0, row, col);
                if constexpr (m > 0) {
                    const double *left[m], *right[m];
                    for (int q = 0; q < m; ++q) left[q] = &x.at(0, row, q), right[q] = &y.at(0, q, col);
#pragma omp simd
                    for (int t = begin; t < end; ++t) {
                        double sum = out[t];
#pragma GCC unroll 8
                        for (int q = 0; q < m; ++q) sum += sign * left[q][t] * right[q][t];
                        out[t] = sum;
                    }
                } else {
                    for (int q = 0; q < dof; ++q) {
                        const double *left = &x.at(0, row, q), *right = &y.at(0, q, col);
#pragma omp simd
                        for (int t = begin; t < end; ++t) out[t] += sign * left[t] * right[t];
                    }
                }
            }
    }

    /// LOOP2 and LOOP3 for one lower entry: W = E_l D^-1(p+l), then X_e -= W F_u(p+l).
    template <int m>
    void eliminate(const Run& run, int l, const std::vector<Update>& updates) const {
        const RunNeighbours near = f_.layout.neighbours(run, f_.stencil[l]);
        if (updates.empty() || near.begin >= near.end) return;
        std::vector<double>& values = scratch().values;
        values.assign(std::size_t(f_.dof) * f_.dof * run.count, 0.0);
        const Blocks<double> w{values.data(), Index(f_.dof) * run.count, run.count};
        add_products<+1, m>(triangle(run, near, l), inverse(near), w, near.begin, near.end);
        for (const Update& update : updates) {
            const Term term = term_of(run, near, l, update);
            add_products<-1, m>(w, term.f, term.x, term.begin, term.end);
        }
    }

    /// A block, row by row.
    template <int m>
    struct Block {
        double v[m > 0 ? m* m : max_dof* max_dof];

        template <class T>
        void load(const Blocks<T>& from, int t, int dof) {
            for (int row = 0; row < dof; ++row)
                for (int col = 0; col < dof; ++col) v[row * dof + col] = from.at(t, row, col);
        }
        void store(const Blocks<double>& to, int t, int dof) const {
            for (int row = 0; row < dof; ++row)
                for (int col = 0; col < dof; ++col) to.at(t, row, col) = v[row * dof + col];
        }
        /// += sign x y
        template <int sign>
        void add_product(const Block& x, const Block& y, int dof) {
            for (int row = 0; row < dof; ++row)
                for (int q = 0; q < dof; ++q)
                    for (int col = 0; col < dof; ++col)
                        v[row * dof + col] += sign * x.v[row * dof + q] * y.v[q * dof + col];
        }
    };

    /// The same for the entries `along` the run, point by point with its pivots.
    template <int m>
    void eliminate_points(const Run& run, std::span<const int> along) const {
        const int dof = m > 0 ? m : f_.dof;
        struct Lower {
            Blocks<const double> e, inverse;
            int begin, end;  ///< of the points that have this neighbour
            std::size_t terms;
        };
        thread_local std::vector<Term> terms;
        thread_local std::vector<Lower> lowers;
        terms.clear(), lowers.clear();
        for (const int l : along) {
            const RunNeighbours near = f_.layout.neighbours(run, f_.stencil[l]);
            for (const Update& update : plan_.updates[l]) terms.push_back(term_of(run, near, l, update));
            lowers.push_back({triangle(run, near, l), inverse(near), near.begin, near.end, plan_.updates[l].size()});
        }
        const std::span<const Lower> all_lowers = lowers;
        const Term* const all_terms = terms.data();
        const Blocks<double> pivots = target(run, f_.stencil.diagonal());
        const Blocks<const double> matrix =
            blocks(dof, [&](int row, int col) { return a_.values(a_.stencil().diagonal(), row, col) + run.slot; });
        Block<m> left, right, w, x;
        PivotRatio smallest;
        for (int t = 0; t < run.count; ++t) {
            const Term* next = all_terms;
            for (const Lower& lower : all_lowers) {
                const std::span<const Term> of_lower(std::exchange(next, next + lower.terms), lower.terms);
                if (t < lower.begin || t >= lower.end) continue;
                left.load(lower.e, t, dof);
                right.load(lower.inverse, t, dof);
                std::fill_n(w.v, dof * dof, 0.0);
                w.template add_product<+1>(left, right, dof);
                for (const Term& term : of_lower) {
                    if (t < term.begin || t >= term.end) continue;
                    x.load(term.x, t, dof);
                    right.load(term.f, t, dof);
                    x.template add_product<-1>(w, right, dof);
                    x.store(term.x, t, dof);
                }
            }
            x.load(pivots, t, dof);
            right.load(matrix, t, dof);
            inverter_.invert(piece_of(f_.layout, run, t, 1).first, right.v, x.v, smallest);
            x.store(pivots, t, dof);
        }
        inverter_.note(smallest);
    }

    const Factors& f_;
    const StructMatrix& a_;
    StructMatrix& x_;
    PivotInverter& inverter_;
    EliminationPlan plan_;
};

/// Entry `to` of x becomes entry `from` of a, its scalar diagonal times 1 + alpha.
void copy_entry(const StructMatrix& a, int from, StructMatrix& x, int to, double alpha) {
    for (int row = 0; row < a.dof(); ++row)
        for (int col = 0; col < a.dof(); ++col) {
            const double factor = row == col ? 1.0 + alpha : 1.0;
            const double* source = a.values(from, row, col);
            double* target = x.values(to, row, col);
#pragma omp parallel for simd schedule(static) num_threads(threads_for(a.layout().slots()))
            for (Index slot = 0; slot < a.layout().slots(); ++slot) target[slot] = factor * source[slot];
        }
}

}  // namespace
}  // namespace struct_ilu_cpu

void StructIlu::copy_matrix(double alpha) {
    using struct_ilu_cpu::copy_entry;
    const Stencil& from = a_->stencil();
    if (!factor_) return copy_entry(*a_, from.diagonal(), *inverse_, 0, alpha);
    for (int e = 0; e < factor_->stored_entries(); ++e) {
        const int source = from.find(stencil_[e]);
        if (source >= 0)
            copy_entry(*a_, source, *factor_, e, e == stencil_.diagonal() ? alpha : 0.0);
        else
            factor_->set_zero(e);
    }
}

void StructIlu::factor(PivotInverter& inverter) {
    StructMatrix& x = factor_ ? *factor_ : *inverse_;
    const struct_ilu_cpu::Factors f{triangles(), x, pivot_entry(), a_->layout(), stencil_, a_->dof()};
    const struct_ilu_cpu::Factorisation factorisation(f, *a_, x, inverter);
    sweep_pieces(f, Direction::lower, [&](const Run& piece) { factorisation.piece(piece); });
}

}  // namespace hyperplane
