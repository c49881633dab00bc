#include "precond/registry.hpp"

#include "precond/cusparse_ilu.hpp"
#include "precond/fgbilu.hpp"
#include "precond/jacobi.hpp"
#include "precond/jacobi_sweeps.hpp"
#include "precond/multicolor.hpp"
#include "precond/par_ilu.hpp"
#include "precond/struct_ilu.hpp"
#include "precond/subdomain_ildu0.hpp"

namespace hyperplane {

const std::vector<PreconditionerRow>& preconditioners() {
    static const std::vector<PreconditionerRow> rows{struct_ilu_row(), fgbilu_row(),       jacobi_sweeps_row(),
                                                     par_ilu_row(),    multicolor_row(),   subdomain_ildu0_row(),
                                                     jacobi_row(),     cusparse_ilu_row(), none_row()};
    return rows;
}

const PreconditionerRow& find_preconditioner(const std::string& name) {
    return find_row(preconditioners(), "preconditioner", name);
}

ParameterTable common_preconditioner_parameters() {
    ParameterSpec name{"preconditioner", "name", ParameterType::text, "struct_ilu",
                       "the preconditioner (hyperplane list preconditioners)"};
    return {name};
}

}  // namespace hyperplane
