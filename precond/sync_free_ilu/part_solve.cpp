// SPDX-License-Identifier: BSD-3-Clause
#include "precond/sync_free_ilu/part_solve.hpp"

#include <algorithm>

#include "precond/graph/levels.hpp"
#include "precond/kernel_set.hpp"

namespace hyperplane {
namespace {

constexpr const char* label = "factor";
constexpr int threads = 128;

rtc::Source source() {
    return {rtc::precond_texts(), "precond/sync_free_ilu/part_solve.cuh"};
}
rtc::Definitions definitions(int dof) {
    return {{"DOF", std::to_string(dof)}, {"THREADS", std::to_string(threads)}};
}

/// The rows of every part in the order of their levels.
struct PartLevels {
    std::vector<int> rows;   ///< part by part, level by level
    std::vector<int> level;  ///< [row]
};

PartLevels levels_of_parts(const BlockPattern& p, const GraphParts& parts, Side side) {
    PartLevels made{{parts.vertices.begin(), parts.vertices.end()}, std::vector<int>(std::size_t(p.rows()), 0)};
#pragma omp parallel for schedule(dynamic, 1) num_threads(p.context().threads_for(p.blocks()))
    for (Index part = 0; part < parts.count(); ++part) {
        const auto begin = made.rows.begin() + parts.begin[part], end = made.rows.begin() + parts.begin[part + 1];
        const auto set = [&](int row) {
            for (Index at = p.row_begin()[row]; at < p.row_begin()[row + 1]; ++at)
                if (const int j = p.column()[at]; side == Side::lower ? j < row : j > row)
                    made.level[row] = std::max(made.level[row], made.level[j] + 1);
        };
        if (side == Side::lower)
            std::for_each(begin, end, set);
        else
            std::for_each(std::reverse_iterator(end), std::reverse_iterator(begin), set);
        std::stable_sort(begin, end, [&](int v, int w) { return made.level[v] < made.level[w]; });
    }
    return made;
}

}  // namespace

/// What the kernels read besides values, in the host's memory.
class PartSolveCuda::Tables {
public:
    struct OfSide {
        std::vector<PartSlice> slices;
        std::vector<int> level_slices, part_levels;
        std::vector<unsigned short> local, columns;
    };
    OfSide lower, upper;
    std::vector<int> part_rows, numbered;
    std::vector<unsigned short> places;

    Tables(const FilledPattern& filled, const GraphParts& parts, int dof)
        : part_rows(parts.begin.begin(), parts.begin.end()), filled_(filled), parts_(parts), dof_(dof) {
        const BlockPattern& p = *filled.pattern;
        const PartLevels below = levels_of_parts(p, parts, Side::lower), above = levels_of_parts(p, parts, Side::upper);
        numbered = below.rows;
        number_.resize(std::size_t(p.rows()));
        for (Index part = 0; part < parts.count(); ++part)
            for (Index at = parts.begin[part]; at < parts.begin[part + 1]; ++at)
                number_[numbered[at]] = static_cast<unsigned short>(at - parts.begin[part]);
        for (const int row : parts.vertices) places.push_back(number_[row]);
        slice(below, Side::lower, lower);
        slice(above, Side::upper, upper);
    }

    Index bytes() const {
        return Index((part_rows.size() + numbered.size()) * sizeof(int)) +
               Index(places.size() * sizeof(unsigned short)) + filled_.pattern->rows() * Index(sizeof(int)) +
               filled_.pattern->rows() * dof_ * dof_ * Index(sizeof(double)) + bytes(lower) + bytes(upper);
    }

private:
    Index first(Side side, Index row) const {
        return side == Side::lower ? filled_.pattern->row_begin()[row] : filled_.diagonal[row] + 1;
    }
    Index last(Side side, Index row) const {
        return side == Side::lower ? filled_.diagonal[row] : filled_.pattern->row_begin()[row + 1];
    }

    void slice(const PartLevels& levels, Side side, OfSide& made) const {
        const Index widest = std::max(1, 32 / dof_);
        for (const int row : levels.rows) made.local.push_back(number_[row]);
        for (Index part = 0; part < parts_.count(); ++part) {
            made.part_levels.push_back(int(made.level_slices.size()));
            const Index base = parts_.begin[part], end = parts_.begin[part + 1];
            for (Index at = base; at < end;) {
                const int level = levels.level[levels.rows[at]];
                if (at == base || levels.level[levels.rows[at - 1]] != level)
                    made.level_slices.push_back(int(made.slices.size()));
                Index rows = 1;
                while (rows < widest && at + rows < end && levels.level[levels.rows[at + rows]] == level) ++rows;
                add(&levels.rows[at], rows, at, base, side, made);
                at += rows;
            }
        }
        made.part_levels.push_back(int(made.level_slices.size()));
        made.level_slices.push_back(int(made.slices.size()));
    }

    /// Adds the slice of `count` rows, the first of which is at position `at`.
    void add(const int* rows, Index count, Index at, Index base, Side side, OfSide& made) const {
        Index length = 0;
        for (Index i = 0; i < count; ++i) length = std::max(length, last(side, rows[i]) - first(side, rows[i]));
        made.slices.push_back({Index(made.columns.size()), int(at), int(base), short(count), short(length)});
        for (Index e = 0; e < length; ++e)
            for (Index i = 0; i < count; ++i) {
                const Index place = first(side, rows[i]) + e;
                const bool there = place < last(side, rows[i]);
                made.columns.push_back(number_[there ? filled_.pattern->column()[place] : rows[i]]);
            }
    }

    Index bytes(const OfSide& side) const {
        return Index(side.slices.size() * sizeof(PartSlice) +
                     (side.level_slices.size() + side.part_levels.size()) * sizeof(int) +
                     (side.local.size() + side.columns.size()) * sizeof(unsigned short)) +
               Index(side.columns.size()) * dof_ * dof_ * Index(sizeof(double));
    }

    const FilledPattern& filled_;
    const GraphParts& parts_;
    int dof_;
    std::vector<unsigned short> number_;  ///< [row]: within its part
};

PartSolveCuda::PartSolveCuda(const Context& context, const GeneralFactors& factors, const GraphParts& parts)
    : dof_(factors.dof),
      parts_(parts.count()),
      most_rows_(parts.largest()),
      inverse_(context, label, factors.pattern().rows() * dof_ * dof_),
      pack_kernel_(context, source(), definitions(dof_), "pack_parts"),
      solve_kernel_(context, source(), definitions(dof_), "solve_parts") {
    const Tables tables(factors.filled, parts, dof_);
    part_rows_ = copied_to(context, label, tables.part_rows);
    rows_ = copied_to(context, label, std::vector<int>(parts.vertices.begin(), parts.vertices.end()));
    numbered_ = copied_to(context, label, tables.numbered);
    places_ = copied_to(context, label, tables.places);
    for (const auto& [from, to] : {std::pair(&tables.lower, &lower_), std::pair(&tables.upper, &upper_)}) {
        to->slices = copied_to(context, label, from->slices);
        to->level_slices = copied_to(context, label, from->level_slices);
        to->part_levels = copied_to(context, label, from->part_levels);
        to->local = copied_to(context, label, from->local);
        to->columns = copied_to(context, label, from->columns);
        to->values = Buffer<double>(context, label, Index(from->columns.size()) * dof_ * dof_);
    }
    arguments_.part_rows = part_rows_.data();
    arguments_.rows = rows_.data();
    arguments_.places = places_.data();
    arguments_.numbered = numbered_.data();
    arguments_.inverse = inverse_.data();
    arguments_.lower = lower_.arguments();
    arguments_.upper = upper_.arguments();
    solve_kernel_.allow_shared(most_rows_ * dof_ * Index(sizeof(double)));
}

PartSide PartSolveCuda::Packed::arguments() {
    return {.slices = slices.data(),
            .level_slices = level_slices.data(),
            .part_levels = part_levels.data(),
            .local = local.data(),
            .columns = columns.data(),
            .values = values.data(),
            .slice_count = int(slices.size())};
}

void PartSolveCuda::take(const double* values, const Index* row_begin, const Index* diagonal) {
    static_assert(sizeof(long long) == sizeof(Index));
    PartArguments arguments = arguments_;
    arguments.row_begin = reinterpret_cast<const long long*>(row_begin);
    arguments.diagonal = reinterpret_cast<const long long*>(diagonal);
    arguments.factors = values;
    const Index slices = lower_.slices.size() + upper_.slices.size(), each = threads / 32;
    if (slices > 0) pack_kernel_.launch({unsigned((slices + each - 1) / each)}, threads, 0, arguments);
}

void PartSolveCuda::apply(const Vector& r, Vector& z) const {
    if (parts_ == 0) return;
    PartArguments arguments = arguments_;
    arguments.in = r.data();
    arguments.out = z.data();
    solve_kernel_.launch({unsigned(parts_)}, threads, most_rows_ * dof_ * Index(sizeof(double)), arguments);
}

Index PartSolveCuda::bytes(const FilledPattern& filled, const GraphParts& parts, int dof) {
    return Tables(filled, parts, dof).bytes();
}

rtc::Programs PartSolveCuda::programs(int dof) {
    return {{source(), definitions(dof)}};
}

}  // namespace hyperplane
