// SPDX-License-Identifier: BSD-3-Clause
// A smoother of multigrid: the row of another preconditioner, with its keys.
#pragma once

#include <algorithm>

#include "precond/multigrid/hierarchy.hpp"
#include "precond/row.hpp"

namespace hyperplane::multigrid {

/// A smoother's row and its keys, as keys of [preconditioner].
struct SmootherPlan {
    PreconditionerRow row;
    Parameters parameters;

    /// With the keys' defaults for smoothing.
    explicit SmootherPlan(const PreconditionerRow& of);
    /// With the keys of [smoother].
    SmootherPlan(const PreconditionerRow& of, const Parameters& given);

    /// Gives the factors this storage, unless `asked`, the keys of [smoother], name another one.
    void store(FactorStorage storage, bool asked);

    PreconditionerPlan plan(const PreconditionerSetting& setting) const { return row.plan(parameters, setting); }
    SmootherChoice choice(const PreconditionerSetting& setting) const;

private:
    std::unique_ptr<Preconditioner> make(const StructMatrix& a, double alpha) const;
};

/// The smoother of each grid; the last one is that of all further grids, too.
struct SmootherPlans {
    std::vector<SmootherPlan> list;
    std::optional<SmootherPlan> coarsest;  ///< on the last grid; nothing: its matrix is inverted

    const SmootherPlan& on(int grid) const { return list[std::min(std::size_t(grid), list.size() - 1)]; }
    SmootherChoices choices(const PreconditionerSetting& setting) const {
        SmootherChoices made;
        for (const SmootherPlan& one : list) made.list.push_back(one.choice(setting));
        if (coarsest) made.coarsest = coarsest->choice(setting);
        return made;
    }
    std::vector<PreconditionerTraits> traits(const PreconditionerSetting& setting) const {
        std::vector<PreconditionerTraits> all;
        for (const SmootherPlan& one : list) all.push_back(one.plan(setting).traits);
        if (coarsest) all.push_back(coarsest->plan(setting).traits);
        return all;
    }
};

}  // namespace hyperplane::multigrid
