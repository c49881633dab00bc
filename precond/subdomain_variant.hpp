// SPDX-License-Identifier: BSD-3-Clause
// The variants of subdomain_ildu0, of boxes of a grid and of parts of a general matrix. Sections and algorithms are
// those of Gondhalekar et al. (precond/subdomain/ildu0.hpp), who number algorithms anew in each section.
#pragma once

#include <string_view>
#include <utility>

namespace hyperplane {

/// How a thread block orders the work on its subdomain. All variants compute M^-1 r; `dag_edge` adds in an order that
/// varies from run to run, and so do the last bits of its results.
enum class SubdomainVariant {
    level,       ///< by levels that are known before; coefficients are read ahead
    unfused,     ///< the same in two kernels: first the lower solve, then scaling and upper solve
    spin,        ///< a warp for each point, which waits for those it needs (section 4.1, Algorithm 1)
    dag_vertex,  ///< by levels found in the pattern's graph (4.2.1, Algorithm 2), a thread for each row (4.2.3)
    dag_edge     ///< the same with a thread for each row of a nonzero block, and atomic additions (4.2.4)
};

inline constexpr std::pair<const char*, SubdomainVariant> subdomain_variants[] = {
    {"level", SubdomainVariant::level},
    {"unfused", SubdomainVariant::unfused},
    {"spin", SubdomainVariant::spin},
    {"dag_vertex", SubdomainVariant::dag_vertex},
    {"dag_edge", SubdomainVariant::dag_edge}};

inline const char* name_of(SubdomainVariant variant) {
    for (const auto& [name, value] : subdomain_variants)
        if (value == variant) return name;
    return "";
}
/// The variant that a deck names, which is one of them.
inline SubdomainVariant subdomain_variant(std::string_view named) {
    for (const auto& [name, value] : subdomain_variants)
        if (named == name) return value;
    return SubdomainVariant::level;
}

/// Whether a variant goes level by level, with factors stored in that order.
inline bool goes_by_steps(SubdomainVariant variant) {
    return variant == SubdomainVariant::level || variant == SubdomainVariant::unfused;
}
/// Whether a GPU's solve of a general matrix reads factors in reduced precision.
inline bool reads_reduced_factors(SubdomainVariant variant) {
    return goes_by_steps(variant);
}
/// What varies from run to run, for PreconditionerTraits.
inline const char* varying(SubdomainVariant variant) {
    return variant == SubdomainVariant::dag_edge ? "variant = dag_edge" : "";
}

}  // namespace hyperplane
