// Every kernel that a deck in inputs/ or a case of the paper's Table 3 asks of a GPU, compiled by NVRTC without one:
// registers and spills. A spill is an error where a point has 8 unknowns or fewer.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "apps/bench_kernels.hpp"
#include "apps/bench_preconditioners.hpp"
#include "apps/case.hpp"
#include "apps/study/study.hpp"
#include "core/struct_matrix_cuda.hpp"
#include "precond/factor_sweeps_cuda.hpp"
#include "precond/fgbilu_cuda.hpp"
#include "precond/multicolor_cuda.hpp"
#include "precond/struct_ilu_cuda.hpp"
#include "precond/subdomain_ildu0.hpp"
#include "precond/triangle_sweeps_cuda.hpp"

namespace hyperplane {
namespace {

/// What kernels are specialised on.
struct System {
    Grid grid;
    Stencil stencil;
    int dof;
    bool symmetric;
    int fill_level;  ///< of struct_ilu; -1: another preconditioner
    bool fgbilu = false, multicolor = false, sweeps = false;
    FactorStorage storage = FactorStorage::double_precision;  ///< of struct_ilu

    std::string name() const {
        std::string wraps;
        for (int axis = 0; axis < 3; ++axis)
            if (grid.periodic[axis]) wraps += "xyz"[axis];
        return fmt::format("{}_dof{}_{}{}{}{}{}{}{}", stencil.name(), dof, symmetric ? "lower" : "full",
                           fill_level < 0 ? "" : fmt::format("_k{}", fill_level), fgbilu ? "_fgbilu" : "",
                           multicolor ? "_multicolor" : "", sweeps ? "_sweeps" : "",
                           is_narrow(storage) ? "_" + to_string(storage) : "",
                           wraps.empty() ? "" : "_periodic_" + wraps);
    }
};

struct Demand {
    std::map<std::string, System> systems;  ///< by name, the largest grid of each
    std::vector<std::string> unread;        ///< decks that could not be read, and why

    void add(const System& system) {
        const auto found = systems.find(system.name());
        if (found == systems.end())
            systems.emplace(system.name(), system);
        else if (found->second.grid.points() < system.grid.points())
            found->second = system;
    }
    void add_deck(const std::string& file, const Deck& deck) {
        try {
            const Case a_case = build_case(deck, {"device.backend=cpu"});
            const SystemShape& shape = a_case.shape();
            const std::string name = a_case.name("preconditioner");
            const bool sweeps = name == "jacobi_sweeps" || name == "par_ilu", ilu = name == "struct_ilu" || sweeps;
            add({shape.grid, shape.stencil, shape.dof, shape.symmetric,
                 ilu ? int(a_case.parameters.integer("preconditioner", "fill_level")) : -1, name == "fgbilu",
                 name == "multicolor", sweeps,
                 name == "struct_ilu" ? factor_storage(a_case.parameters) : FactorStorage::double_precision});
        } catch (const std::exception& error) {
            unread.push_back(file + ": " + error.what());
        }
    }
};

Demand make_demand() {
    Demand demand;
    for (const BenchCase& one : parse_bench_cases("table3")) {
        Grid grid;
        grid.nx = grid.ny = grid.nz = one.n;
        demand.add({grid, one.stencil, one.dof, one.symmetric, 0});
        for (const FactorStorage storage : narrow_factor_storages)
            demand.add({grid, one.stencil, one.dof, one.symmetric, 0, false, false, false, storage});
        demand.add({grid, one.stencil, one.dof, one.symmetric, -1, true});
        demand.add({grid, one.stencil, one.dof, one.symmetric, -1, false, true});
        demand.add({grid, one.stencil, one.dof, one.symmetric, -1, false, false, true});
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(HYPERPLANE_INPUTS))
        if (const std::string file = entry.path().string(); entry.path().extension() == ".ini") {
            if (entry.path().parent_path().filename() != "studies")
                demand.add_deck(file, read_deck(file));
            else
                for (const StudyCase& one : read_study(file).cases) demand.add_deck(file, one.deck);
        }
    return demand;
}

const Demand& demand() {
    static const Demand made = make_demand();
    return made;
}

struct Job {
    System system;
    std::string architecture;

    std::string name() const { return system.name() + "_" + architecture; }
    friend std::ostream& operator<<(std::ostream& out, const Job& job) { return out << job.name(); }
};

/// All of one architecture and a third of the two others, or the remaining ones.
std::vector<Job> jobs(bool remaining) {
    std::vector<Job> list;
    int turn = 0;
    for (const auto& [name, system] : demand().systems) {
        int other = turn++;
        for (const char* architecture : {"sm_80", "sm_90", "sm_100"}) {
            const bool at_once = std::string(architecture) == "sm_90" || other++ % 3 == 0;
            if (at_once != remaining) list.push_back({system, architecture});
        }
    }
    return list;
}

std::vector<rtc::KernelResources> compile(const Job& job) {
    const System& s = job.system;
    const Stencil filled = s.stencil.filled(std::max(0, s.fill_level));
    const Layout layout(LayoutKind::hyperplane, s.grid, filled.level_map());
    const MatrixStorage storage = s.symmetric ? MatrixStorage::lower : MatrixStorage::full;
    auto rows = StructMatrixCuda::compile(layout, s.stencil, s.dof, storage, job.architecture);
    const bool shares = filled.size() == s.stencil.size() && !filled.eliminates_off_diagonal();
    if (s.fgbilu)
        for (const FactorStorage storage : all_factor_storages)
            for (auto& row :
                 FgBiluCuda::compile({layout, s.stencil, s.dof, s.symmetric, shares, storage}, {}, job.architecture))
                rows.push_back(row);
    if (s.multicolor) {
        const Layout natural(LayoutKind::natural, s.grid, s.stencil.level_map());
        for (const FactorStorage storage : all_factor_storages)
            for (auto& row : MulticolorCuda::compile(natural, s.stencil, s.dof, s.symmetric, storage, job.architecture))
                rows.push_back(row);
    }
    if (s.sweeps) {
        const bool unit = !(shares && StructIluCuda::shares(s.dof));
        const Layout natural(LayoutKind::natural, s.grid, filled.level_map());
        for (const FactorStorage storage : all_factor_storages)
            for (auto& row : TriangleSweepsCuda::compile(
                     {natural, filled, s.dof, s.symmetric, unit || is_narrow(storage), storage}, job.architecture))
                rows.push_back(row);
        const FactorSweepShape factors{layout, s.stencil, filled, s.dof, s.symmetric, !unit};
        if (FactorSweepsCuda::serves(factors))
            for (auto& row : FactorSweepsCuda::compile(factors, job.architecture)) rows.push_back(row);
    }
    if (s.fill_level < 0) return rows;
    const bool in_matrix = shares && StructIluCuda::shares(s.dof) && !is_narrow(s.storage);
    const StructIluSystem system{layout, filled, s.stencil, s.dof, s.symmetric, in_matrix, s.storage};
    for (auto& row : StructIluCuda::compile(system, job.architecture)) rows.push_back(row);
    return rows;
}

void expect_no_spills(const Job& job) {
    const auto rows = compile(job);
    const System& s = job.system;
    const bool more = s.fill_level >= 0 || s.fgbilu || s.multicolor || s.sweeps;
    EXPECT_GE(rows.size(), is_narrow(s.storage) ? 4u : more ? 5u : 2u);
    for (const auto& row : rows) {
        fmt::print("{:<40} {:<24} {:>4} registers {:>6} B local {:>6} B spilled {:>6} B shared\n", job.name(), row.name,
                   row.registers, row.local_bytes, row.spill_bytes, row.shared_bytes);
        EXPECT_GT(row.registers, 0) << row.name;
        // Two kernels take all registers that their blocks leave a thread: the factorisation on tensor cores, and
        // par_ilu's sweeps. They are tuned for sm_90; for others the compiler misses by a few.
        const bool takes_all = (job.system.dof > 2 && row.name == "struct_ilu factor") || row.name == "factor_sweep";
        const bool tight = job.architecture != "sm_90" && takes_all;
        if (job.system.dof <= 8) {
            EXPECT_LE(row.spill_bytes, tight ? 192 : 0) << row.name << " of " << job.name();
        }
    }
}

/// Kernels of struct_ilu without one of its pieces (bench --ablate); these may spill.
class Pieces : public testing::TestWithParam<BenchCase> {};
TEST_P(Pieces, Compile) {
    const BenchCase& c = GetParam();
    Grid grid;
    grid.nx = grid.ny = grid.nz = c.n;
    const auto list = pieces(Backend::cuda, c);
    EXPECT_GE(list.size(), 3u);
    for (const Variant& piece : list) {
        const bool moved = piece.storage == Variant::Storage::other_layout;
        const Layout layout(moved ? LayoutKind::natural : LayoutKind::hyperplane, grid, c.stencil.level_map());
        const bool shares = piece.tuning.shares && StructIluCuda::shares(c.dof) && !c.stencil.eliminates_off_diagonal();
        const bool lower = c.symmetric && piece.storage != Variant::Storage::both_triangles;
        for (const auto& row :
             StructIluCuda::compile({layout, c.stencil, c.stencil, c.dof, lower, shares}, "sm_90", piece.tuning)) {
            fmt::print("{:<20} {:<20} {:<20} {:>4} registers {:>6} B spilled\n", c.name(), piece.name, row.name,
                       row.registers, row.spill_bytes);
            EXPECT_GT(row.registers, 0) << piece.name << ", " << row.name;
        }
    }
}
INSTANTIATE_TEST_SUITE_P(All, Pieces, testing::ValuesIn(parse_bench_cases("ablation")), [](const auto& info) {
    std::string name = info.param.name();
    std::replace(name.begin(), name.end(), ':', '_');
    return name;
});

/// Kernels of subdomain_ildu0 for a case of Table 3, or the published 3 x 3 blocks.
struct SubdomainJob {
    BenchCase system;
    SubdomainVariant variant;
    std::string architecture;
    FactorStorage storage = FactorStorage::double_precision;
    SubdomainTuning tuning = {};
};

std::vector<SubdomainJob> subdomain_jobs() {
    using enum SubdomainVariant;
    std::vector<SubdomainJob> list;
    for (const BenchCase& one : parse_bench_cases("table3"))
        for (const FactorStorage storage : all_factor_storages) list.push_back({one, level, "sm_90", storage});
    for (const char* one : {"star7:3:128", "box27:1:336", "diamond25:8:80", "box27:32:8"})
        for (const SubdomainVariant variant : {level, unfused, spin, dag_vertex, dag_edge})
            for (const char* architecture : {"sm_80", "sm_90", "sm_100"}) {
                list.push_back({parse_bench_cases(one).front(), variant, architecture});
                const FactorStorage narrow = all_factor_storages[1 + list.size() % 2];
                list.push_back({parse_bench_cases(one).front(), variant, architecture, narrow});
            }
    for (const char* one : {"star7:1:512", "star13:1:432", "diamond25:1:336", "box27:1:336"})
        for (const NamedTuning& named : subdomain_tunings("all"))
            for (const FactorStorage storage : all_factor_storages)
                list.push_back({parse_bench_cases(one).front(), level, "sm_90", storage, named.tuning});
    return list;
}

class SubdomainKernels : public testing::TestWithParam<SubdomainJob> {};
TEST_P(SubdomainKernels, CompileWithoutSpills) {
    const auto& [system, variant, architecture, storage, tuning] = GetParam();
    Grid grid;
    grid.nx = grid.ny = grid.nz = system.n;
    const Cuts cuts = Cuts::by_default(grid, system.dof);
    for (const auto& row : SubdomainSolveCuda::compile(cuts, cuts.within(system.stencil), system.dof, variant, storage,
                                                       architecture, tuning)) {
        fmt::print("{:<32} {:<18} {:>4} registers {:>6} B local {:>6} B spilled\n",
                   system.name() + " " + to_string(storage) + " " + architecture, row.name, row.registers,
                   row.local_bytes, row.spill_bytes);
        EXPECT_GT(row.registers, 0) << row.name;
        if (system.dof <= 8) {
            EXPECT_EQ(row.spill_bytes, 0) << row.name;
        }
    }
}
INSTANTIATE_TEST_SUITE_P(All, SubdomainKernels, testing::ValuesIn(subdomain_jobs()), [](const auto& info) {
    std::string name = info.param.system.name() + "_" + std::to_string(int(info.param.variant)) + "_" +
                       to_string(info.param.storage) + "_" + info.param.architecture + "_" + std::to_string(info.index);
    std::replace(name.begin(), name.end(), ':', '_');
    return name;
});

TEST(Decks, AreAllRead) {
    for (const std::string& problem : demand().unread) ADD_FAILURE() << problem;
    EXPECT_GE(demand().systems.size(), 25u + 5u);
}

const auto name_of = [](const testing::TestParamInfo<Job>& info) { return info.param.name(); };

class Kernels : public testing::TestWithParam<Job> {};
TEST_P(Kernels, CompileWithoutSpills) {
    expect_no_spills(GetParam());
}
INSTANTIATE_TEST_SUITE_P(All, Kernels, testing::ValuesIn(jobs(false)), name_of);

class OtherKernels : public testing::TestWithParam<Job> {};
TEST_P(OtherKernels, CompileWithoutSpills) {
    expect_no_spills(GetParam());
}
INSTANTIATE_TEST_SUITE_P(All, OtherKernels, testing::ValuesIn(jobs(true)), name_of);

}  // namespace
}  // namespace hyperplane
