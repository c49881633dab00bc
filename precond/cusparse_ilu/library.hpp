// SPDX-License-Identifier: BSD-3-Clause
// cuSPARSE's functions, from the library of the toolkit's version, which is loaded when one of them is first called: to
// load it takes longer than all else that the program does when it starts.
#pragma once

#define DISABLE_CUSPARSE_DEPRECATED
#include <cusparse.h>

#include <type_traits>

#include "core/device/shared_library.hpp"

namespace hyperplane::cusparse {

/// Throws DeviceError if it cannot be loaded.
const SharedLibrary& library();

/// The function of cuSPARSE that `declared` declares; a call throws DeviceError if the library does not have it.
template <auto declared>
class Loaded {
public:
    constexpr explicit Loaded(const char* name) : name_(name) {}

    template <class... Arguments>
    auto operator()(const Arguments&... arguments) const {
        static const auto found = library().find<std::remove_pointer_t<decltype(declared)>>(name_);
        return found(arguments...);
    }

private:
    const char* name_;
};

// Each has cuSPARSE's own name, which it hides within this namespace.
inline constexpr Loaded<::cusparseCreate> cusparseCreate{"cusparseCreate"};
inline constexpr Loaded<::cusparseCreateBsrilu02Info> cusparseCreateBsrilu02Info{"cusparseCreateBsrilu02Info"};
inline constexpr Loaded<::cusparseCreateBsrsv2Info> cusparseCreateBsrsv2Info{"cusparseCreateBsrsv2Info"};
inline constexpr Loaded<::cusparseCreateCsr> cusparseCreateCsr{"cusparseCreateCsr"};
inline constexpr Loaded<::cusparseCreateCsric02Info> cusparseCreateCsric02Info{"cusparseCreateCsric02Info"};
inline constexpr Loaded<::cusparseCreateCsrilu02Info> cusparseCreateCsrilu02Info{"cusparseCreateCsrilu02Info"};
inline constexpr Loaded<::cusparseCreateDnVec> cusparseCreateDnVec{"cusparseCreateDnVec"};
inline constexpr Loaded<::cusparseCreateMatDescr> cusparseCreateMatDescr{"cusparseCreateMatDescr"};
inline constexpr Loaded<::cusparseDbsrilu02> cusparseDbsrilu02{"cusparseDbsrilu02"};
inline constexpr Loaded<::cusparseDbsrilu02_analysis> cusparseDbsrilu02_analysis{"cusparseDbsrilu02_analysis"};
inline constexpr Loaded<::cusparseDbsrilu02_bufferSize> cusparseDbsrilu02_bufferSize{"cusparseDbsrilu02_bufferSize"};
inline constexpr Loaded<::cusparseDbsrmv> cusparseDbsrmv{"cusparseDbsrmv"};
inline constexpr Loaded<::cusparseDbsrsv2_analysis> cusparseDbsrsv2_analysis{"cusparseDbsrsv2_analysis"};
inline constexpr Loaded<::cusparseDbsrsv2_bufferSize> cusparseDbsrsv2_bufferSize{"cusparseDbsrsv2_bufferSize"};
inline constexpr Loaded<::cusparseDbsrsv2_solve> cusparseDbsrsv2_solve{"cusparseDbsrsv2_solve"};
inline constexpr Loaded<::cusparseDcsric02> cusparseDcsric02{"cusparseDcsric02"};
inline constexpr Loaded<::cusparseDcsric02_analysis> cusparseDcsric02_analysis{"cusparseDcsric02_analysis"};
inline constexpr Loaded<::cusparseDcsric02_bufferSize> cusparseDcsric02_bufferSize{"cusparseDcsric02_bufferSize"};
inline constexpr Loaded<::cusparseDcsrilu02> cusparseDcsrilu02{"cusparseDcsrilu02"};
inline constexpr Loaded<::cusparseDcsrilu02_analysis> cusparseDcsrilu02_analysis{"cusparseDcsrilu02_analysis"};
inline constexpr Loaded<::cusparseDcsrilu02_bufferSize> cusparseDcsrilu02_bufferSize{"cusparseDcsrilu02_bufferSize"};
inline constexpr Loaded<::cusparseDestroy> cusparseDestroy{"cusparseDestroy"};
inline constexpr Loaded<::cusparseDestroyBsrilu02Info> cusparseDestroyBsrilu02Info{"cusparseDestroyBsrilu02Info"};
inline constexpr Loaded<::cusparseDestroyBsrsv2Info> cusparseDestroyBsrsv2Info{"cusparseDestroyBsrsv2Info"};
inline constexpr Loaded<::cusparseDestroyCsric02Info> cusparseDestroyCsric02Info{"cusparseDestroyCsric02Info"};
inline constexpr Loaded<::cusparseDestroyCsrilu02Info> cusparseDestroyCsrilu02Info{"cusparseDestroyCsrilu02Info"};
inline constexpr Loaded<::cusparseDestroyDnVec> cusparseDestroyDnVec{"cusparseDestroyDnVec"};
inline constexpr Loaded<::cusparseDestroyMatDescr> cusparseDestroyMatDescr{"cusparseDestroyMatDescr"};
inline constexpr Loaded<::cusparseDestroySpMat> cusparseDestroySpMat{"cusparseDestroySpMat"};
inline constexpr Loaded<::cusparseGetErrorString> cusparseGetErrorString{"cusparseGetErrorString"};
inline constexpr Loaded<::cusparseSbsrsv2_analysis> cusparseSbsrsv2_analysis{"cusparseSbsrsv2_analysis"};
inline constexpr Loaded<::cusparseSbsrsv2_bufferSize> cusparseSbsrsv2_bufferSize{"cusparseSbsrsv2_bufferSize"};
inline constexpr Loaded<::cusparseSbsrsv2_solve> cusparseSbsrsv2_solve{"cusparseSbsrsv2_solve"};
inline constexpr Loaded<::cusparseSetMatDiagType> cusparseSetMatDiagType{"cusparseSetMatDiagType"};
inline constexpr Loaded<::cusparseSetMatFillMode> cusparseSetMatFillMode{"cusparseSetMatFillMode"};
inline constexpr Loaded<::cusparseSetStream> cusparseSetStream{"cusparseSetStream"};
inline constexpr Loaded<::cusparseSpMV> cusparseSpMV{"cusparseSpMV"};
inline constexpr Loaded<::cusparseSpMV_bufferSize> cusparseSpMV_bufferSize{"cusparseSpMV_bufferSize"};
inline constexpr Loaded<::cusparseSpMV_preprocess> cusparseSpMV_preprocess{"cusparseSpMV_preprocess"};
inline constexpr Loaded<::cusparseSpMatSetAttribute> cusparseSpMatSetAttribute{"cusparseSpMatSetAttribute"};
inline constexpr Loaded<::cusparseSpSV_analysis> cusparseSpSV_analysis{"cusparseSpSV_analysis"};
inline constexpr Loaded<::cusparseSpSV_bufferSize> cusparseSpSV_bufferSize{"cusparseSpSV_bufferSize"};
inline constexpr Loaded<::cusparseSpSV_createDescr> cusparseSpSV_createDescr{"cusparseSpSV_createDescr"};
inline constexpr Loaded<::cusparseSpSV_destroyDescr> cusparseSpSV_destroyDescr{"cusparseSpSV_destroyDescr"};
inline constexpr Loaded<::cusparseSpSV_solve> cusparseSpSV_solve{"cusparseSpSV_solve"};
inline constexpr Loaded<::cusparseSpSV_updateMatrix> cusparseSpSV_updateMatrix{"cusparseSpSV_updateMatrix"};
inline constexpr Loaded<::cusparseXbsrilu02_zeroPivot> cusparseXbsrilu02_zeroPivot{"cusparseXbsrilu02_zeroPivot"};
inline constexpr Loaded<::cusparseXcsric02_zeroPivot> cusparseXcsric02_zeroPivot{"cusparseXcsric02_zeroPivot"};
inline constexpr Loaded<::cusparseXcsrilu02_zeroPivot> cusparseXcsrilu02_zeroPivot{"cusparseXcsrilu02_zeroPivot"};

}  // namespace hyperplane::cusparse
