// SPDX-License-Identifier: BSD-3-Clause
#include "precond/scaling/scaled.hpp"

#include <cmath>

#include "core/ranks/cuts.hpp"
#include "precond/factors/ldu.hpp"
#include "precond/general/pattern/diagonal_pattern.hpp"

namespace hyperplane {
namespace {

constexpr const char* label = "scaling";

const ScalingRow& chosen(const Parameters& parameters) {
    return find_row(scalings(), "scaling", parameters.text("scaling", "name"));
}

bool is_none(const ScalingRow& row) {
    return &row == &scalings().front();
}

/// Multiplies entry (i, j) by 2^(row[i] + column[j]).
void scale(CsrMatrix& a, const std::vector<int>& row, const std::vector<int>& column) {
    for (Index i = 0; i < a.rows; ++i)
        for (Index at = a.row_begin[i]; at < a.row_begin[i + 1]; ++at)
            a.value[at] = std::ldexp(a.value[at], row[i] + column[a.column[at]]);
}

/// The exponents of a rank's columns, with those of other ranks' rows around them.
std::vector<int> with_halo(const BsrMatrix& a, const std::vector<int>& own) {
    const RowSlab& slab = *a.pattern()->slab();
    std::vector<double> all(std::size_t(slab.rows_in_memory() * a.dof()));
    double* const first = all.data() + slab.before * a.dof();
    std::copy(own.begin(), own.end(), first);
    exchange_rows_on_host(a.context(), slab, a.dof(), first);
    return {all.begin(), all.end()};
}

class ScaledPreconditioner : public Preconditioner, public HasLduFactors {
public:
    ScaledPreconditioner(const Context& context, const ScalingRow& scaling, bool symmetric,
                         std::unique_ptr<Preconditioner> inner)
        : context_(context), scaling_(scaling), symmetric_(symmetric), inner_(std::move(inner)) {}

    SetupReport setup(const SystemMatrix& matrix) override {
        const BsrMatrix& a = general(matrix);
        allocate(a);
        std::unique_ptr<BsrMatrix> copy;
        const BsrMatrix& host = on_host(a, copy);
        Scales scales = scaling_.create(host);
        if (a.space().is_part() && !scales.column.empty()) scales.column = with_halo(a, scales.column);
        fill(host, scales);
        SetupReport report = inner_->setup(*scaled_);
        report.factor_bytes += bytes_held();
        return report;
    }
    void suggest_shift(double alpha) override { inner_->suggest_shift(alpha); }
    void apply(const Vector& r, Vector& z) const override {
        rows_->apply(r, before_);
        if (!columns()) return inner_->apply(before_, z);
        inner_->apply(before_, after_);
        columns()->apply(after_, z);
    }
    PreconditionerTraits traits() const override {
        PreconditionerTraits traits = inner_->traits();
        traits.symmetric = traits.symmetric && scaling_.keeps_symmetry;
        return traits;
    }
    Index bytes_per_apply() const override {
        return inner_->bytes_per_apply() + rows_->bytes_per_apply() * (columns() ? 2 : 1);
    }
    SweepCounts sweeps() const override { return inner_->sweeps(); }
    bool has_ldu() const override { return factors() && factors()->has_ldu(); }
    /// Of M itself: with M~ = L D U it is (R^-1 L R) (R^-1 D C^-1) (C U C^-1).
    LduFactors ldu() const override {
        const std::vector<int> r = exponents(), c = columns() ? r : std::vector<int>(r.size(), 0);
        const std::vector<int> less_r = negative(r), less_c = negative(c);
        LduFactors ldu = factors()->ldu();
        scale(ldu.lower, less_r, r);
        scale(ldu.diagonal, less_r, less_c);
        scale(ldu.upper, c, less_c);
        return ldu;
    }
    void set_setup_sweeps(int count) override { inner_->set_setup_sweeps(count); }
    std::string solve_way() const override { return inner_->solve_way(); }

private:
    /// C; null if it is the identity. Where there is one, it is R.
    const BsrMatrix* columns() const { return scaling_.keeps_symmetry ? rows_.get() : nullptr; }
    const HasLduFactors* factors() const { return dynamic_cast<const HasLduFactors*>(inner_.get()); }
    /// The exponents of R, by row.
    std::vector<int> exponents() const {
        std::unique_ptr<BsrMatrix> copy;
        const BsrMatrix& rows = on_host(*rows_, copy);
        const int dof = rows.dof();
        std::vector<int> found;
        for (Index row = 0; row < rows.unknowns(); ++row)
            found.push_back(std::ilogb(rows.values()[row * dof + row % dof]));
        return found;
    }
    static std::vector<int> negative(std::vector<int> exponents) {
        for (int& one : exponents) one = -one;
        return exponents;
    }
    Index bytes_held() const { return scaled_->bytes() + rows_->bytes(); }

    void allocate(const BsrMatrix& a) {
        if (scaled_ && scaled_->pattern() == a.pattern() && scaled_->dof() == a.dof()) return;
        scaled_.reset(), rows_.reset();
        scaled_ = std::make_unique<BsrMatrix>(context_, a.pattern(), a.dof(), symmetric_, label);
        rows_ = std::make_unique<BsrMatrix>(context_, diagonal_pattern(context_.host(), a.pattern()->rows(), label),
                                            a.dof(), true, label);
        before_ = Vector(context_, a.space(), a.dof(), label);
        if (columns()) after_ = Vector(context_, a.space(), a.dof(), label);
    }

    /// Fills scaled_ and rows_, through the host.
    void fill(const BsrMatrix& a, const Scales& scales) {
        std::unique_ptr<BsrMatrix> of_matrix, of_rows;
        BsrMatrix& scaled = writable(*scaled_, of_matrix);
        BsrMatrix& rows = writable(*rows_, of_rows);
        const BlockPattern& p = *a.pattern();
        const int dof = a.dof();
        const Index before = p.slab() ? p.slab()->before : 0;
#pragma omp parallel for schedule(static) num_threads(context_.threads_for(a.nonzeros()))
        for (Index row = 0; row < p.rows(); ++row)
            for (int r = 0; r < dof; ++r) {
                const int left = scales.row[row * dof + r];
                rows.values()[(row * dof + r) * dof + r] = std::ldexp(1.0, left);
                for (Index at = p.row_begin()[row]; at < p.row_begin()[row + 1]; ++at)
                    for (int c = 0; c < dof; ++c) {
                        const int right =
                            scales.column.empty() ? 0 : scales.column[(before + p.column()[at]) * dof + c];
                        const Index place = (at * dof + r) * dof + c;
                        scaled.values()[place] = std::ldexp(a.values()[place], left + right);
                    }
            }
        if (of_matrix) scaled_->assign(*of_matrix);
        if (of_rows) rows_->assign(*of_rows);
    }

    /// The matrix itself if the host can write it, otherwise one of the same pattern that is stored in `copy`.
    BsrMatrix& writable(BsrMatrix& a, std::unique_ptr<BsrMatrix>& copy) const {
        if (a.backend() == Backend::cpu) return a;
        copy = std::make_unique<BsrMatrix>(context_.host(), a.pattern(), a.dof(), a.symmetric(), label);
        return *copy;
    }

    Context context_;
    const ScalingRow& scaling_;
    bool symmetric_;  ///< of the scaled matrix
    std::unique_ptr<Preconditioner> inner_;
    std::unique_ptr<BsrMatrix> scaled_, rows_;  ///< A~ and R
    mutable Vector before_, after_;
};

/// Of R, which is kept in blocks.
Index bytes_of_diagonal(Index rows, int dof) {
    return BlockPattern::bytes(rows, rows) + rows * dof * dof * Index(sizeof(double));
}

/// What is held beside the scaled matrix, which shares its pattern on a CPU: R, and one or two vectors.
Index bytes_beside(const ScalingRow& scaling, Index rows, int dof) {
    return bytes_of_diagonal(rows, dof) + (scaling.keeps_symmetry ? 2 : 1) * rows * dof * Index(sizeof(double));
}

}  // namespace

bool scales(const Parameters& parameters) {
    return !is_none(chosen(parameters));
}

PreconditionerSetting scaled_setting(const Parameters& parameters, const PreconditionerSetting& setting) {
    const ScalingRow& scaling = chosen(parameters);
    if (is_none(scaling)) return setting;
    const MatrixShape& a = setting.matrix;
    if (a.kind() != MatrixKind::general)
        throw RefusedKey(parameters, "scaling", "name",
                         ": only general matrices are scaled; set matrix.format = general, or leave the key out");
    PreconditionerSetting scaled{setting.context, {a.pattern(), a.dof(), a.symmetric() && scaling.keeps_symmetry}};
    if (a.symmetric() && !scaling.keeps_symmetry) scaled.unsymmetric_by = scaling.name;
    return scaled;
}

Index bytes_of_scaling(const Parameters& parameters, const BlockCounts& a) {
    const ScalingRow& scaling = chosen(parameters);
    return is_none(scaling) ? 0 : bytes_beside(scaling, a.rows, a.dof) + a.value_bytes();
}

PreconditionerPlan plan_scaled(const PreconditionerRow& row, const Parameters& parameters,
                               const PreconditionerSetting& setting) {
    PreconditionerPlan plan = row.plan(parameters, scaled_setting(parameters, setting));
    const ScalingRow& scaling = chosen(parameters);
    if (is_none(scaling)) return plan;
    const MatrixShape& a = setting.matrix;
    const Index rows = a.natural_space().block_rows(), vector = rows * a.dof() * Index(sizeof(double));
    const Index diagonal = bytes_of_diagonal(rows, a.dof());
    const IndexSpace space = a.natural_space();
    const Index halos = (space.slots_in_memory() - rows) * a.dof() * Index(sizeof(double));
    const Index more = bytes_beside(scaling, rows, a.dof()) + (scaling.keeps_symmetry ? 2 : 1) * halos +
                       bytes_of(a, space, setting.context.backend());
    plan.bytes += more;
    if (plan.most_bytes > 0) plan.most_bytes += more;
    if (plan.bytes_per_apply > 0) plan.bytes_per_apply += (diagonal + 2 * vector) * (scaling.keeps_symmetry ? 2 : 1);
    plan.traits.symmetric = plan.traits.symmetric && scaling.keeps_symmetry;
    return plan;
}

std::unique_ptr<Preconditioner> create_scaled(const PreconditionerRow& row, const Parameters& parameters,
                                              const PreconditionerSetting& setting) {
    const PreconditionerSetting inner = scaled_setting(parameters, setting);
    const ScalingRow& scaling = chosen(parameters);
    if (is_none(scaling)) return row.create(parameters, inner);
    return std::make_unique<ScaledPreconditioner>(setting.context, scaling, inner.matrix.symmetric(),
                                                  row.create(parameters, inner));
}

}  // namespace hyperplane
