// SPDX-License-Identifier: BSD-3-Clause
#include "precond/sync_free_ilu/part_solve.hpp"

#include "precond/general/factors/cpu.hpp"
#include "precond/general/factors/reduced_rows_cuda.hpp"
#include "precond/general/factors/stored_on_host.hpp"
#include "precond/general/pattern/on_gpu.hpp"
#include "precond/kernel_set.hpp"
#include "precond/reproductions/part_walk.hpp"

namespace hyperplane {
namespace {

constexpr const char* parts_label = "factor";
constexpr int part_threads = 192;

constexpr const char* parts_text = "precond/sync_free_ilu/part_solve.cuh";

rtc::Definitions definitions(int dof, FactorStorage storage, bool fused) {
    rtc::Definitions all{{"DOF", std::to_string(dof)},
                         {"THREADS", std::to_string(part_threads)},
                         {"STORAGE", std::to_string(int(storage))}};
    if (!fused) all["UNFUSED"] = "1";
    return all;
}

}  // namespace

std::unique_ptr<GeneralSolve> part_solve::make(SubdomainVariant variant, const GpuPattern& pattern,
                                               const GeneralFactors& factors, FactorStorage storage,
                                               const GraphParts& parts, std::optional<PartTables> known) {
    if (!goes_by_steps(variant)) return std::make_unique<PartWalkCuda>(pattern, factors, parts, variant);
    return std::make_unique<PartSolveCuda>(pattern, factors, parts, storage, std::move(known),
                                           variant == SubdomainVariant::level);
}

Index part_solve::bytes(SubdomainVariant variant, Symbolic& symbolic, int dof, FactorStorage storage) {
    if (!goes_by_steps(variant)) return PartWalkCuda::bytes(symbolic.filled, symbolic.parts, dof, variant);
    return PartSolveCuda::bytes(symbolic, dof, storage);
}

rtc::Programs part_solve::programs(SubdomainVariant variant, int dof, FactorStorage storage) {
    if (!goes_by_steps(variant)) return PartWalkCuda::programs(dof, variant);
    return PartSolveCuda::programs(dof, storage, variant == SubdomainVariant::level);
}

PartSolveCuda::PartSolveCuda(const GpuPattern& pattern, const GeneralFactors& factors, const GraphParts& parts,
                             FactorStorage storage, std::optional<PartTables> known, bool fused)
    : pattern_(pattern),
      dof_(factors.dof),
      parts_(parts.count()),
      most_rows_(parts.largest()),
      inverse_(pattern.diagonal.context(), storage, factors.pattern().rows() * dof_ * dof_,
               factors.pattern().rows() * dof_, parts_label),
      pack_kernel_(pattern.diagonal.context(), precond_source(parts_text), definitions(dof_, storage, fused),
                   "pack_parts") {
    const Context& context = pattern.diagonal.context();
    const PartTables tables = known ? *std::move(known) : part_tables(factors.filled, parts, dof_);
    part_rows_ = copied_to(context, parts_label, tables.part_rows);
    rows_ = copied_to(context, parts_label, std::vector<int>(parts.vertices.begin(), parts.vertices.end()));
    numbered_ = copied_to(context, parts_label, tables.numbered);
    places_ = copied_to(context, parts_label, tables.places);
    for (const auto& [from, to] : {std::pair(&tables.lower, &lower_), std::pair(&tables.upper, &upper_)}) {
        to->slices = copied_to(context, parts_label, from->slices);
        to->level_slices = copied_to(context, parts_label, from->level_slices);
        to->part_levels = copied_to(context, parts_label, from->part_levels);
        to->local = copied_to(context, parts_label, from->local);
        to->columns = copied_to(context, parts_label, from->columns);
        to->values = StoredValues(context, storage, Index(from->columns.size()) * dof_ * dof_,
                                  factors.pattern().rows() * dof_, parts_label);
    }
    arguments_.part_rows = part_rows_.data();
    arguments_.rows = rows_.data();
    arguments_.places = places_.data();
    arguments_.numbered = numbered_.data();
    arguments_.rows_of_pattern = factors.pattern().rows();
    arguments_.inverse = inverse_.data();
    arguments_.inverse_exponents = inverse_.exponents();
    arguments_.lower = lower_.arguments();
    arguments_.upper = upper_.arguments();
    for (const char* name :
         fused ? std::vector{"solve_parts"} : std::vector{"solve_lower_parts", "solve_upper_parts"}) {
        solve_kernels_.emplace_back(context, precond_source(parts_text), definitions(dof_, storage, fused), name);
        solve_kernels_.back().allow_shared(most_rows_ * dof_ * Index(sizeof(double)));
    }
}

PartSide PartSolveCuda::Packed::arguments() {
    return {.slices = slices.data(),
            .level_slices = level_slices.data(),
            .part_levels = part_levels.data(),
            .local = local.data(),
            .columns = columns.data(),
            .values = values.data(),
            .exponents = values.exponents(),
            .slice_count = int(slices.size())};
}

Rounding PartSolveCuda::round(const GeneralFactors& factors, const BsrMatrix& a) {
    RoundedFactors rounded(pattern_, inverse_.storage(), dof_, parts_label);
    const Rounding met = rounded.round(pattern_, factors.values.data(), a);
    pack(rounded.stored());
    return met;
}

void PartSolveCuda::pack(const StoredView& factors) {
    PartArguments arguments = arguments_;
    arguments.row_begin = as_pointers(pattern_.pattern->row_begin());
    arguments.diagonal = as_pointers(pattern_.diagonal.data());
    arguments.factors = factors.values;
    arguments.exponents = factors.exponents;
    const Index slices = lower_.slices.size() + upper_.slices.size(), each = part_threads / 32;
    if (slices > 0) pack_kernel_.launch({unsigned((slices + each - 1) / each)}, part_threads, 0, arguments);
}

void PartSolveCuda::apply(const Vector& r, Vector& z) const {
    if (parts_ == 0) return;
    for (const Kernel& kernel : solve_kernels_) solve(kernel, &kernel == &solve_kernels_.front() ? r : z, z);
}

void PartSolveCuda::solve(const Kernel& kernel, const Vector& in, Vector& out) const {
    PartArguments arguments = arguments_;
    arguments.in = in.data();
    arguments.out = out.data();
    kernel.launch({unsigned(parts_)}, part_threads, most_rows_ * dof_ * Index(sizeof(double)), arguments);
}

Index PartSolveCuda::bytes_per_apply() const {
    return general_cpu::bytes_per_apply(pattern_.pattern->rows(), pattern_.pattern->blocks(), dof_, inverse_.storage());
}

GeneralFactors PartSolveCuda::widened(const GeneralFactors& shape) const {
    UnitFactorsOnHost wide(shape, pattern_.diagonal);
    const HostValues<int> numbered(numbered_);
    const StoredOnHost inverse(inverse_);
    for (const Side side : {Side::lower, Side::upper}) {
        const Packed& packed = side == Side::lower ? lower_ : upper_;
        const HostValues<PartSlice> slices(packed.slices);
        const HostValues<unsigned short> local(packed.local);
        const StoredOnHost stored(packed.values);
        for (Index which = 0; which < packed.slices.size(); ++which) {
            const PartSlice& slice = slices.data()[which];
            for (int at = 0; at < slice.rows * dof_; ++at) {
                const int i = at / dof_, r = at % dof_, width = slice.rows * dof_;
                const Index position = slice.first + i, row = numbered.data()[slice.base + local.data()[position]];
                const auto [first, last] = wide.blocks_of(row, side);
                for (Index b = 0; b < last - first; ++b)
                    for (int c = 0; c < dof_; ++c)
                        wide.element(first + b, r, c) =
                            stored.scale(position * dof_ + r) *
                            stored.value((slice.block + b * slice.rows) * dof_ * dof_ + c * width + at);
                for (int c = 0; side == Side::upper && c < dof_; ++c)
                    wide.element(first - 1, r, c) = inverse.scale(position * dof_ + r) *
                                                    inverse.value(Index(slice.first) * dof_ * dof_ + c * width + at);
            }
        }
    }
    return std::move(wide).factors();
}

Index PartSolveCuda::bytes(Symbolic& symbolic, int dof, FactorStorage storage) {
    if (!symbolic.part_tables) symbolic.part_tables = part_tables(symbolic.filled, symbolic.parts, dof);
    const PartTables& tables = *symbolic.part_tables;
    const Index rows = Index(tables.numbered.size());
    return tables.bytes() + StoredValues::bytes(storage, (tables.blocks() + rows) * dof * dof, 3 * rows * dof);
}

rtc::Programs PartSolveCuda::programs(int dof, FactorStorage storage, bool fused) {
    return {{precond_source(parts_text), definitions(dof, storage, fused)}};
}

}  // namespace hyperplane
