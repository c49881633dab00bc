// SPDX-License-Identifier: BSD-3-Clause
// Compiles every kernel that a deck in inputs/ or a case of the paper's Table 3 needs, by NVRTC without a GPU, and
// checks registers and spills. A spill is an error if a point has 8 unknowns or fewer.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "apps/bench/kernels.hpp"
#include "apps/bench/preconditioners.hpp"
#include "apps/run/build_case.hpp"
#include "apps/study/study.hpp"
#include "core/error.hpp"
#include "core/matrix/struct_matrix_cuda.hpp"
#include "core/ranks/planned.hpp"
#include "precond/registry.hpp"
#include "precond/struct_ilu/elimination.hpp"
#include "precond/subdomain/ildu0.hpp"
#include "precond/triangular/wavefront/wavefront.hpp"
#include "solvers/eisenstat_cg.hpp"

namespace hyperplane {
namespace {

/// The kernels to be compiled.
struct Demand {
    std::map<std::string, KernelSet> sets;  ///< by name, the largest grid of each
    std::vector<std::string> unread;        ///< decks that could not be read, and why

    void add(const KernelSet& set) {
        const auto [found, fresh] = sets.try_emplace(set.name(), set);
        if (found->second.stencil.offsets() != set.stencil.offsets())
            throw Error(ExitCode::internal, "two stencils have the name " + set.name());
        if (!fresh && found->second.layout.grid().points() < set.layout.grid().points()) found->second = set;
    }
    /// Products and preconditioner of a system, in each storage that the preconditioner has, and as multigrid applies
    /// it to vectors in single precision.
    void add(const PreconditionerRow& row, Parameters parameters, PreconditionerSetting setting) {
        const Layout layout = row.plan(parameters, setting).space.layout();
        add_product(setting.matrix, layout.levels());
        if (!row.kernels) return;
        setting.single_vectors = true;
        for (const KernelSet& set : row.kernels(parameters, setting)) add(set);
        for (const FactorStorage storage : row.storages) {
            parameters.set("preconditioner", "storage", to_string(storage));
            try {
                for (const KernelSet& set : row.kernels(parameters, setting)) add(set);
            } catch (const UsageError&) {  // other keys of the deck exclude this storage
            }
        }
    }
    /// Products in the hyperplane layout, whose levels a fill level may change.
    void add_product(const MatrixShape& s, LevelMap levels) {
        const bool own = levels == s.stencil().level_map();
        const Layout planes(LayoutKind::hyperplane, s.grid(), levels);
        const MatrixStorage triangles = s.symmetric() ? MatrixStorage::lower : MatrixStorage::full;
        add({own ? "spmv" : fmt::format("spmv_levels_{}_{}", levels.y, levels.z), planes, s.stencil(), s.dof(),
             s.symmetric(), FactorStorage::double_precision, [planes, stencil = s.stencil(), dof = s.dof(), triangles] {
                 return StructMatrixCuda::programs(planes, stencil, dof, triangles);
             }});
    }
    void add_deck(const std::string& file, const Deck& deck) {
        try {
            const Case a_case = build_case(deck, {"device.backend=cpu"});
            if (a_case.shape().pattern) return;  // GeneralKernels compiles those of general matrices
            add(find_preconditioner(a_case.name("preconditioner")), a_case.parameters,
                {a_case.context, a_case.shape().matrix(), asks_for_eisenstat(a_case.parameters)});
        } catch (const std::exception& error) {
            unread.push_back(file + ": " + error.what());
        }
    }
};

/// The defaults of a row.
Parameters parameters_of(const PreconditionerRow& row) {
    Parameters parameters(row.parameters);
    parameters.add(common_preconditioner_parameters());
    return parameters;
}

Demand make_demand() {
    Demand demand;
    for (const BenchCase& one : parse_bench_cases("table3")) {
        Grid grid;
        grid.nx = grid.ny = grid.nz = one.n;
        const PreconditionerSetting setting{Context::cpu(1), {grid, one.stencil, one.dof, one.symmetric}};
        for (const PreconditionerRow& row : preconditioners())
            // multigrid's are those of other rows, on stencils of coarse grids.
            if (row.kernels && row.name != "multigrid" && row.takes(MatrixKind::structured) &&
                (one.symmetric || !row.needs_symmetry))
                demand.add(row, parameters_of(row), setting);
        // Those of a rank that has one below and one above.
        const PreconditionerSetting of_rank{Context::cpu(1, std::make_shared<PlannedRank>(1, 3)), setting.matrix};
        for (const char* name : {"struct_ilu", "multicolor", "par_ilu", "jacobi_sweeps"}) {
            const PreconditionerRow& row = find_preconditioner(name);
            if (one.stencil.name() == "star7" && one.dof <= 4)
                for (const KernelSet& set : row.kernels(parameters_of(row), of_rank)) demand.add(set);
        }
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

/// Programs by what gives them the same machine code: main text, definitions, architecture.
class Seen {
public:
    /// Those of a set that have not been taken.
    rtc::Programs take(const rtc::Programs& programs, const std::string& architecture) {
        rtc::Programs fresh;
        for (const rtc::Program& program : programs)
            if (known_.emplace(program.source.main, program.definitions, architecture).second) fresh.push_back(program);
        return fresh;
    }

private:
    std::set<std::tuple<std::string_view, rtc::Definitions, std::string>> known_;
};

struct Job {
    KernelSet set;
    std::string architecture;
    rtc::Programs programs;  ///< those of the set that no earlier job compiles

    std::string name() const { return set.name() + "_" + architecture; }
    friend std::ostream& operator<<(std::ostream& out, const Job& job) { return out << job.name(); }
};

/// Names of sets that represent the others.
struct Representatives {
    /// For each family, every number of unknowns in double precision and the fewest in reduced precision, with one and
    /// with both triangles, on the stencil with the fewest entries, and the most up to eight on the stencil with the
    /// most.
    std::set<std::string> on_sm_90;
    /// Of these, the one with the fewest entries and unknowns of each family in double precision.
    std::set<std::string> on_sm_100;
    /// Those, and the one of four unknowns on that stencil, whose blocks tensor cores and several threads work on.
    std::set<std::string> on_sm_80;

    bool contain(const std::string& name, const std::string& architecture) const {
        return (architecture == "sm_90" ? on_sm_90 : architecture == "sm_80" ? on_sm_80 : on_sm_100).contains(name);
    }
};

Representatives representatives() {
    std::vector<const KernelSet*> by_size;
    for (const auto& [name, set] : demand().sets) by_size.push_back(&set);
    const auto size = [](const KernelSet* set) { return std::pair(set->stencil.size(), set->dof); };
    std::ranges::stable_sort(by_size, {}, size);
    Representatives chosen;
    std::set<std::string> shown;
    std::map<std::string, std::string> largest;
    for (const KernelSet* set : by_size) {
        const std::string kind = fmt::format("{} {}", set->family, int(set->storage));
        const bool first = shown.insert(kind).second;
        const bool of_dof = shown.insert(fmt::format("{} {}", kind, set->dof)).second;
        const bool of_form = shown.insert(fmt::format("{} {}", kind, set->symmetric ? "lower" : "full")).second;
        const bool in_double = set->storage == FactorStorage::double_precision;
        if (of_form || (of_dof && in_double)) chosen.on_sm_90.insert(set->name());
        if (set->dof <= 8) largest[kind] = set->name();
        if (!in_double) continue;
        if (first) chosen.on_sm_100.insert(set->name());
        if (first || (of_dof && set->dof == 4)) chosen.on_sm_80.insert(set->name());
    }
    for (const auto& [kind, name] : largest) chosen.on_sm_90.insert(name);
    return chosen;
}

/// The kernels that CI compiles: representatives, most of them for sm_90; for sm_80 a few, because some lines of code
/// differ, and for sm_100, whose code is that of sm_90, fewer. With `remaining`, all others, which takes many times as
/// long. A program that several sets have is compiled for the first of them.
std::vector<Job> jobs(bool remaining) {
    const Representatives chosen = representatives();
    Seen seen;
    const auto list_of = [&](bool of_representatives) {
        std::vector<Job> list;
        for (const auto& [name, set] : demand().sets) {
            const rtc::Programs programs = set.programs();
            for (const std::string architecture : {"sm_80", "sm_90", "sm_100"})
                if (chosen.contain(name, architecture) == of_representatives)
                    if (rtc::Programs fresh = seen.take(programs, architecture); !fresh.empty() || programs.empty())
                        list.push_back({set, architecture, std::move(fresh)});
        }
        return list;
    };
    std::vector<Job> list = list_of(true);
    if (remaining) list = list_of(false);
    return list;
}

class Kernels : public testing::TestWithParam<Job> {};
TEST_P(Kernels, CompileWithoutSpills) {
    const Job& job = GetParam();
    const auto rows = rtc::compile(job.programs, job.architecture);
    EXPECT_FALSE(rows.empty());
    for (const auto& row : rows) {
        fmt::print("{:<56} {:<24} {:>4} registers {:>6} B local {:>6} B spilled {:>6} B shared\n", job.name(), row.name,
                   row.registers, row.local_bytes, row.spill_bytes, row.shared_bytes);
        EXPECT_GT(row.registers, 0) << row.name;
        // Two kernels use all registers that a thread can have: the factorisation on tensor cores and the sweeps of
        // par_ilu. They are tuned for sm_90; for other architectures the compiler spills a few registers.
        const bool takes_all = (job.set.dof > 2 && row.name == "struct_ilu_factor") || row.name == "factor_sweep";
        const bool tight = job.architecture != "sm_90" && takes_all;
        // The factorisation of subdomains on tensor cores may have 80 registers, so that three thread blocks are
        // resident on sm_90. It spills a register or two, as it did when its times were measured.
        const bool shares = row.name == "subdomain_factor";
        // Multigrid's product of 27 points with one triangle stored has four planes of coarse points a thread block,
        // which is faster than two without spills: 3.6 ms in place of 3.8 on 256^3 points (docs/log/multigrid.md).
        const bool planes = row.name == "product" && job.set.family.starts_with("multigrid_setup");
        if (job.set.dof <= 8) {
            EXPECT_LE(row.spill_bytes, tight ? 192 : planes ? 140 : shares ? 8 : 0) << row.name << " of " << job.name();
        }
    }
}
const auto name_of = [](const testing::TestParamInfo<Job>& info) {
    std::string name = info.param.name();
    std::ranges::replace_if(
        name, [](unsigned char c) { return !std::isalnum(c); }, '_');
    return name;
};
INSTANTIATE_TEST_SUITE_P(Some, Kernels, testing::ValuesIn(jobs(false)), name_of);
INSTANTIATE_TEST_SUITE_P(Other, Kernels, testing::ValuesIn(jobs(true)), name_of);

/// Kernels of struct_ilu without one of its techniques (bench --ablate); these may spill. Those that Some/Kernels
/// compiles are left to it.
class Pieces : public testing::TestWithParam<BenchCase> {};
TEST_P(Pieces, CompileWithoutOneTechnique) {
    const BenchCase& c = GetParam();
    Grid grid;
    grid.nx = grid.ny = grid.nz = c.n;
    static Seen seen = [] {
        Seen by_kernels;
        for (const Job& job : jobs(false)) by_kernels.take(job.programs, job.architecture);
        return by_kernels;
    }();
    const auto list = pieces(Backend::cuda, c);
    EXPECT_GE(list.size(), 3u);
    for (const Variant& piece : list) {
        const bool moved = piece.storage == Variant::Storage::other_layout;
        const Layout layout(moved ? LayoutKind::natural : LayoutKind::hyperplane, grid, c.stencil.level_map());
        const bool shares = piece.choice.may_share && c.dof == 1 && !c.stencil.eliminates_off_diagonal();
        const bool lower = c.symmetric && piece.storage != Variant::Storage::both_triangles;
        const IluPattern pattern = {layout, c.stencil, c.stencil, c.dof, lower, shares};
        std::vector<KernelSet> sets = WavefrontSolve(piece.choice.tuning).kernels(pattern, false);
        const std::vector<KernelSet> factor = Elimination(piece.choice.tuning).kernels(pattern);
        sets.insert(sets.end(), factor.begin(), factor.end());
        for (const KernelSet& set : sets)
            for (const auto& row : rtc::compile(seen.take(set.programs(), "sm_90"), "sm_90")) {
                fmt::print("{:<20} {:<20} {:<20} {:>4} registers {:>6} B spilled\n", c.name(), piece.name, row.name,
                           row.registers, row.spill_bytes);
                EXPECT_GT(row.registers, 0) << piece.name << ", " << row.name;
            }
    }
}
/// A row of these has more intra-row levels than sets of stages can be tried for (precond/struct_ilu/intra_row.hpp).
TEST(KernelsOfFill, AreChosenAtOnce) {
    Grid grid;
    grid.nx = 7, grid.ny = 5, grid.nz = 3;
    const Stencil stencil = Stencil::by_name("diamond25"), filled = stencil.filled(1);
    const Layout layout(LayoutKind::natural, grid, filled.level_map());
    const IluPattern pattern = {layout, filled, stencil, 1, true, false};
    for (const KernelSet& set : Elimination(StructIluTuning{}).kernels(pattern)) EXPECT_FALSE(set.programs().empty());
}

/// Cases on star7 or, with `remaining`, those whose kernels take longer to compile.
std::vector<BenchCase> cases_of_pieces(bool remaining) {
    std::vector<BenchCase> list = parse_bench_cases("ablation");
    std::erase_if(list, [&](const BenchCase& one) { return (one.stencil.name() == "star7") == remaining; });
    return list;
}
const auto name_of_pieces = [](const testing::TestParamInfo<BenchCase>& info) {
    std::string name = info.param.name();
    std::replace(name.begin(), name.end(), ':', '_');
    return name;
};
INSTANTIATE_TEST_SUITE_P(Some, Pieces, testing::ValuesIn(cases_of_pieces(false)), name_of_pieces);
INSTANTIATE_TEST_SUITE_P(Other, Pieces, testing::ValuesIn(cases_of_pieces(true)), name_of_pieces);

/// Kernels of the variants of subdomain_ildu0, and of its tunings.
struct SubdomainJob {
    BenchCase system;
    SubdomainVariant variant;
    std::string architecture;
    FactorStorage storage = FactorStorage::double_precision;
    SubdomainTuning tuning = {};
};

/// The kernels that CI compiles: four systems of Table 3 with every variant in double precision; for sm_80 the first of
/// them, and for sm_100 its default variant. With `remaining`, all others and the tunings of `bench --tunings`.
std::vector<SubdomainJob> subdomain_jobs(bool remaining) {
    using enum SubdomainVariant;
    std::vector<SubdomainJob> list;
    const auto add = [&](const SubdomainJob& job, bool at_once) {
        if (at_once != remaining) list.push_back(job);
    };
    for (const FactorStorage storage : all_factor_storages) {
        for (const BenchCase& one : parse_bench_cases("star7:3:128, box27:1:336, diamond25:8:80, box27:32:8"))
            for (const SubdomainVariant variant : {level, unfused, spin, dag_vertex, dag_edge})
                for (const std::string architecture : {"sm_80", "sm_90", "sm_100"}) {
                    const bool first = one.dof == 3 && (architecture == "sm_80" || variant == level);
                    add({one, variant, architecture, storage},
                        storage == FactorStorage::double_precision && (architecture == "sm_90" || first));
                }
        for (const BenchCase& one : parse_bench_cases("star7:1:512, star13:1:432, diamond25:1:336, box27:1:336"))
            for (const auto& [name, tuning] : subdomain_tunings()) add({one, level, "sm_90", storage, tuning}, false);
    }
    return list;
}

class SubdomainKernels : public testing::TestWithParam<SubdomainJob> {};
TEST_P(SubdomainKernels, CompileWithoutSpills) {
    const auto& [system, variant, architecture, storage, tuning] = GetParam();
    Grid grid;
    grid.nx = grid.ny = grid.nz = system.n;
    const Partition partition = Partition::by_default(grid, system.dof);
    const rtc::Programs programs =
        SubdomainSolveCuda::programs(partition, partition.within(system.stencil), system.dof, variant, storage, tuning);
    for (const auto& row : rtc::compile(programs, architecture)) {
        fmt::print("{:<32} {:<18} {:>4} registers {:>6} B local {:>6} B spilled\n",
                   system.name() + " " + to_string(storage) + " " + architecture, row.name, row.registers,
                   row.local_bytes, row.spill_bytes);
        EXPECT_GT(row.registers, 0) << row.name;
        // A step of 20 KiB in half precision gives each of 32 workers eight rows, in the 96 registers that ten thread
        // blocks on a multiprocessor leave it: star7 spills 64 bytes.
        if (system.dof <= 8) {
            EXPECT_LE(row.spill_bytes, tuning.workers == 32 ? 64 : 0) << row.name;
        }
    }
}

const auto name_of_subdomain_job = [](const testing::TestParamInfo<SubdomainJob>& info) {
    std::string name = info.param.system.name() + "_" + std::to_string(int(info.param.variant)) + "_" +
                       to_string(info.param.storage) + "_" + info.param.architecture + "_" + std::to_string(info.index);
    std::replace(name.begin(), name.end(), ':', '_');
    return name;
};

INSTANTIATE_TEST_SUITE_P(Some, SubdomainKernels, testing::ValuesIn(subdomain_jobs(false)), name_of_subdomain_job);
INSTANTIATE_TEST_SUITE_P(Other, SubdomainKernels, testing::ValuesIn(subdomain_jobs(true)), name_of_subdomain_job);

TEST(Decks, CanAllBeRead) {
    for (const std::string& problem : demand().unread) ADD_FAILURE() << problem;
    EXPECT_GE(demand().sets.size(), 25u * 9u);
}

}  // namespace
}  // namespace hyperplane
