# SPDX-License-Identifier: BSD-3-Clause
# `cpack -G DEB` in the build folder: hyperplane_VERSION_ARCH.deb, the program, and libhyperplane-dev_VERSION_ARCH.deb, the
# library. docs/install.md says how a package for other machines is built; packaging/deb/check.sh tries it on a bare Debian.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VENDOR "The Hyperplane developers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(HYPERPLANE_MAINTAINER "Whoever built it <nobody@example.invalid>" CACHE STRING
  "NAME <ADDRESS> that a Debian package made here names as its maintainer")
set(CPACK_DEBIAN_PACKAGE_MAINTAINER ${HYPERPLANE_MAINTAINER})
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME hyperplane)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "python3, python3-h5py, python3-matplotlib, libjs-chart.js")  # report
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION
" The program: it assembles PDEs on structured grids, solves them with preconditioned
 Krylov methods and records in HDF5 how each solve converged and what it cost.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libhyperplane-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libfmt-dev, libgomp1")
if(METIS_INCLUDES AND METIS_LIBRARY)
  string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", libmetis-dev")
endif()
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
" The static library with its headers and a CMake package: programs that assemble
 matrices of their own have them solved by Hyperplane's methods.")
# The processor that the package needs is not part of its name.
if(HYPERPLANE_NATIVE)
  set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_SOURCE_DIR}/cmake/package_native.cmake)
endif()
include(CPack)
