// SPDX-License-Identifier: BSD-3-Clause
#include "problems/matrix.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "core/error.hpp"
#include "core/graph/row_matching.hpp"
#include "core/random.hpp"
#include "core/ranks/cuts.hpp"
#include "core/timer.hpp"
#include "core/vector/blas1.hpp"
#include "core/vector/passes.hpp"
#include "problems/error_norms.hpp"
#include "problems/matrix_blocks.hpp"
#include "problems/matrix_input.hpp"
#include "problems/time_parameters.hpp"

namespace hyperplane {
namespace {

constexpr const char* matrix_label = "matrix of the file";
constexpr std::uint64_t seed = 31;

/// What b is.
enum class RightHandSide { xones, ones, random, file };

RightHandSide right_hand_side(const Parameters& parameters) {
    const std::string& text = parameters.text("problem", "right_hand_side");
    return text == "xones"    ? RightHandSide::xones
           : text == "ones"   ? RightHandSide::ones
           : text == "random" ? RightHandSide::random
                              : RightHandSide::file;
}

SystemShape shape_of(const BsrMatrix& a, bool symmetric, std::string unsymmetric_entry) {
    SystemShape shape{.grid = Grid::of_rows(a.pattern()->rows()),
                      .stencil = Stencil("general", {{0, 0, 0}}),
                      .dof = a.dof(),
                      .symmetric = symmetric,
                      .components = {},
                      .pattern = a.pattern(),
                      .unsymmetric_entry = std::move(unsymmetric_entry)};
    for (int c = 0; c < a.dof(); ++c) shape.components.push_back(a.dof() == 1 ? "u" : fmt::format("u{}", c));
    return shape;
}

class FileMatrix final : public Problem {
public:
    /// `made` lies in the host's memory, `b`, dof fastest, is in the given order; none for A 1.
    FileMatrix(const Context& context, std::unique_ptr<BsrMatrix> made, bool symmetric, std::string unsymmetric_entry,
               std::vector<double> b, std::vector<Preparation> preparation, std::vector<std::string> warnings)
        : Problem(shape_of(*made, symmetric, std::move(unsymmetric_entry))),
          context_(context),
          solution_is_one_(b.empty()),
          preparation_(std::move(preparation)),
          warnings_(std::move(warnings)) {
        const int dof = made->dof();
        b_ = Vector(context, IndexSpace::plain(made->pattern()->rows()), dof, "right-hand side of the file");
        if (solution_is_one_) {
            Vector one(context.host(), b_.space(), dof, matrix_label),
                product(context.host(), b_.space(), dof, matrix_label);
            fill(one, 1.0);
            made->apply(one, product);
            if (std::string said = warning_about(*made, product); !said.empty()) warnings_.push_back(std::move(said));
            transfer(product, b_);
        } else {
            from_natural(b, b_);
        }
        adopt(std::move(made));
    }
    /// The system of `other`, which is in the given order, in another one.
    FileMatrix(const FileMatrix& other, const std::shared_ptr<const RowOrder>& order)
        : Problem(other.shape_),
          context_(other.context_),
          solution_is_one_(other.solution_is_one_),
          preparation_(other.preparation_),
          warnings_(other.warnings_) {
        const auto begin = std::chrono::steady_clock::now();
        std::unique_ptr<BsrMatrix> copy;
        auto made = hyperplane::in_order(on_host(*other.matrix_, copy), order, matrix_label);
        shape_.pattern = made->pattern();
        if (order->matches_rows()) {
            if (shape_.symmetric && !made->symmetric())
                shape_.unsymmetric_entry = fmt::format("ordering.rows = matching has moved {} of its {} block rows",
                                                       order->moved(), order->rows());
            shape_.symmetric = made->symmetric();
        }
        b_ = Vector(context_, other.b_.space(), shape_.dof, "right-hand side of the file");
        from_natural(order->equations_to_places(to_natural(other.b_), shape_.dof), b_);
        adopt(std::move(made));
        if (order->matches_rows()) preparation_.push_back({"matching", order->matching_seconds});
        preparation_.push_back({"ordering", order->seconds + seconds_since(begin)});
    }

    /// The rows of `other` that one of several ranks has.
    FileMatrix(const FileMatrix& other, const Context& context, const std::shared_ptr<const BlockPattern>& part)
        : Problem(other.shape_),
          context_(context),
          solution_is_one_(other.solution_is_one_),
          preparation_(other.preparation_),
          warnings_(other.warnings_) {
        const BlockPattern& whole = *other.shape_.pattern;
        const Index first = part->slab()->first, size = Index(shape_.dof) * shape_.dof;
        shape_.pattern = part;
        b_ = Vector(context_, part->space(), shape_.dof, "right-hand side of the file");
        const auto take = [&](const double* from, double* to, Index count) {
            copy_between(other.context_, from, context_, to, count * Index(sizeof(double)));
        };
        take(other.b_.data() + first * shape_.dof, b_.data(), b_.size());
        matrix_ = std::make_unique<BsrMatrix>(context_, part, shape_.dof, shape_.symmetric, matrix_label);
        take(other.matrix_->values() + whole.row_begin()[first] * size, matrix_->values(), matrix_->nonzeros());
    }

    void initial_state(Vector& u) const override { set_zero(u); }
    void residual(const Vector& u, const TimeLevel&, Vector& f) const override {
        matrix_->apply(u, f);
        axpy(-1.0, b_, f);
    }
    void jacobian(const Vector&, const TimeLevel&, SystemMatrix& a) const override { general(a).assign(*matrix_); }
    std::vector<ErrorNorm> errors(const Vector& u, double) const override {
        if (!solution_is_one_) return {};
        if (u.space().slab() && context_.backend() == Backend::cuda) return errors(of_all_ranks(u), 0.0);
        double most = 0.0;
        for (Index at = 0; at < u.size(); ++at) most = std::fmax(most, std::abs(u.data()[at] - 1.0));
        const double squares = sum_blocks(u, Walk::up, [&](Index first, Index count) {
            double sum = 0.0;
            for (Index at = first; at < first + count; ++at) sum += (u.data()[at] - 1.0) * (u.data()[at] - 1.0);
            return sum;
        });
        const Index unknowns = u.space().all_block_rows() * u.dof();
        return {{"max", largest_of_ranks(u.context(), most)}, {"rms", std::sqrt(squares / double(unknowns))}};
    }
    std::vector<std::string> error_names() const override { return names_of_error_norms(solution_is_one_); }
    std::unique_ptr<Problem> in_order(const std::shared_ptr<const RowOrder>& order) const override {
        return std::make_unique<FileMatrix>(*this, order);
    }
    std::shared_ptr<const RowMatching> row_matching() const override {
        std::unique_ptr<BsrMatrix> copy;
        return std::make_shared<const RowMatching>(match_rows(on_host(*matrix_, copy)));
    }
    std::unique_ptr<Problem> of_rank(const Context& context,
                                     const std::shared_ptr<const BlockPattern>& part) const override {
        return std::make_unique<FileMatrix>(*this, context, part);
    }
    std::vector<Preparation> preparation() const override { return preparation_; }
    std::vector<std::string> warnings() const override { return warnings_; }

private:
    /// The values of all rows in the host's memory: the cuts of GPUs are others than those that the host's sums follow.
    static Vector of_all_ranks(const Vector& u) {
        Vector all(u.context().alone(), IndexSpace::plain(u.space().all_block_rows()), u.dof(), matrix_label);
        u.context().ranks()->all_gather({u.data(), std::size_t(u.size())}, {all.data(), std::size_t(all.size())});
        return all;
    }
    /// The warning about a b = A 1 that tells little of the matrix.
    static std::string warning_about(const BsrMatrix& a, const Vector& product) {
        const Index values = a.pattern()->blocks() * a.dof() * a.dof();
        double largest = 0.0;
        for (Index at = 0; at < values; ++at) largest = std::fmax(largest, std::abs(a.values()[at]));
        return product_warning({product.data(), std::size_t(product.size())}, largest);
    }
    /// Keeps a matrix that lies in the host's memory.
    void adopt(std::unique_ptr<BsrMatrix> made) {
        if (context_.backend() == Backend::cpu) {
            matrix_ = std::move(made);
            return;
        }
        matrix_ = std::make_unique<BsrMatrix>(context_, shape_.pattern, shape_.dof, shape_.symmetric, matrix_label);
        matrix_->assign(*made);
    }

    Context context_;
    std::unique_ptr<BsrMatrix> matrix_;
    Vector b_;
    bool solution_is_one_;
    std::vector<Preparation> preparation_;
    std::vector<std::string> warnings_;
};

/// The vector of a file. Where that is not to be had, a name without dot and slash was meant as one of those above.
std::vector<double> read_named_vector(const Parameters& parameters, const InputFiles& files, Index rows) {
    try {
        return read_input_vector(parameters, files, rows);
    } catch (const FileError& error) {
        if (parameters.text("problem", "right_hand_side").find_first_of("./") != std::string::npos) throw;
        throw FileError(fmt::format("{}; without a file b is xones, ones or random", error.what()));
    }
}

/// b, dof fastest; none for A 1.
std::vector<double> read_right_hand_side(const Parameters& parameters, const InputFiles& files, Index rows) {
    const RightHandSide kind = right_hand_side(parameters);
    if (kind == RightHandSide::xones) return {};
    if (kind == RightHandSide::file) return read_named_vector(parameters, files, rows);
    std::vector<double> values(std::size_t(rows), 1.0);
    if (kind == RightHandSide::random)
        for (Index row = 0; row < rows; ++row) values[row] = random_symmetric(seed, std::uint64_t(row));
    return values;
}

}  // namespace

ParameterTable matrix_parameters() {
    return {
        {.section = "problem",
         .key = "file",
         .type = ParameterType::path,
         .default_value = "",
         .description = "file of the matrix, of any square pattern without empty rows: Matrix Market coordinate format "
                        "(real, integer or pattern; "
                        "general, symmetric or skew-symmetric) or PETSc binary (AIJ or BAIJ), also compressed by gzip",
         .required = true},
        {.section = "problem",
         .key = "right_hand_side",
         .type = ParameterType::path,
         .default_value = "xones",
         .description =
             "what b is: xones, b = A 1, whose solution is 1; ones, b = 1; random, uniform in (-1, 1) and the "
             "same on every machine; or a file, a Matrix Market array or the first vector of a PETSc file"},
        {.section = "problem",
         .key = "block",
         .type = ParameterType::integer,
         .default_value = "auto",
         .description =
             "unknowns of a block row, side by side in the matrix; auto: what PETSc has written to FILE.info "
             "beside the file (-matload_block_size N), or else the largest number for which the "
             "entries of the file fill such blocks without a gap. Where a block has gaps they are filled "
             "with zeros",
         .minimum = Bound{1},
         .maximum = Bound{max_dof},
         .choices = {"auto"}},
        {.section = "problem",
         .key = "symmetry",
         .type = ParameterType::choice,
         .default_value = "by_file",
         .description = "what the entries of the file are: symmetric, one triangle, whose mirror image is filled in; "
                        "general, all of them; by_file, what its banner says. Where there is a banner, symmetric and "
                        "general must not contradict it: they are for files without one",
         .choices = {"by_file", "symmetric", "general"}},
        repeated_entries_key(),
    };
}

void refuse_keys_of_others(const Parameters& parameters) {
    refuse_time_keys(parameters, "matrix is one linear system");
    for (const char* key : {"cells", "lengths", "periodic"})
        if (parameters.is_given("grid", key))
            throw RefusedKey(parameters, "grid", key,
                             ": matrix has no grid; leave the key out, or use problem.name = matrix_market");
}

std::optional<int> given_block_size(const Parameters& parameters, Index rows,
                                    const std::optional<DeclaredBlock>& declared) {
    if (parameters.text("problem", "block") == "auto") return declared ? std::optional(declared->size) : std::nullopt;
    const int dof = int(parameters.integer("problem", "block"));
    if (declared && declared->size != dof)
        throw UsageError(fmt::format("{}: {} is not the block size that {} gives, {}; use auto, or remove that file",
                                     parameters.where("problem", "block"), dof, declared->where, declared->size));
    if (rows % dof != 0)
        throw UsageError(fmt::format("{}: {} rows are no multiple of {}; use auto, or a size that divides them",
                                     parameters.where("problem", "block"), rows, dof));
    return dof;
}

std::unique_ptr<Problem> create_matrix(const Parameters& parameters, const Context& context, const InputFiles& files) {
    refuse_keys_of_others(parameters);
    auto begin = std::chrono::steady_clock::now();
    std::vector<Preparation> preparation;
    const auto took = [&](const char* what) {
        preparation.push_back({what, seconds_since(begin)});
        begin = std::chrono::steady_clock::now();
    };
    const InputMatrix input = read_input_matrix(parameters, "file", files);
    const std::vector<double> b = read_right_hand_side(parameters, files, input.csr.rows);
    check_solvable(input.csr, 1, b, parameters.where("problem", "right_hand_side"),
                   right_hand_side(parameters) == RightHandSide::file);
    took("reading");
    const std::optional<int> dof = given_block_size(parameters, input.csr.rows, input.block);
    const int unknowns = dof ? *dof : found_block_size(input.csr);
    if (unknowns > 1)
        check_solvable(input.csr, unknowns, b, parameters.where("problem", "right_hand_side"),
                       right_hand_side(parameters) == RightHandSide::file);
    auto made = in_blocks(context.host(), input.csr, unknowns, parameters.where("problem", "file"), matrix_label);
    const bool symmetric = equals_transpose(*made);
    std::vector<std::string> warnings = input.warnings;
    if (std::string text = zeros_warning(input.csr); !text.empty()) warnings.push_back(std::move(text));
    // Of b = A 1 product_warning says that rows add up to zero.
    if (std::string text = sums_warning(input.csr, !b.empty()); !text.empty()) warnings.push_back(std::move(text));
    took("blocks");
    return std::make_unique<FileMatrix>(context, std::move(made), symmetric,
                                        symmetric ? "" : unsymmetric_text(input.csr, unknowns), b,
                                        std::move(preparation), std::move(warnings));
}

}  // namespace hyperplane
