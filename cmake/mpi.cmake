# SPDX-License-Identifier: BSD-3-Clause
# find_mpi(C|CXX): find_package(MPI), which stops the configuration where MPI's compiler is installed without its headers
# (Debian's openmpi-bin without libopenmpi-dev); then this only finds nothing.
macro(find_mpi language)
  if(${language} STREQUAL C)
    find_program(HYPERPLANE_MPI_${language} NAMES mpicc)
  else()
    find_program(HYPERPLANE_MPI_${language} NAMES mpicxx mpic++)
  endif()
  set(mpi_probe ${CMAKE_BINARY_DIR}/CMakeFiles/mpi_probe.cpp)
  file(WRITE ${mpi_probe} "#include <mpi.h>\n")
  set(mpi_status 1)
  if(HYPERPLANE_MPI_${language})
    execute_process(COMMAND ${HYPERPLANE_MPI_${language}} -fsyntax-only ${mpi_probe} RESULT_VARIABLE mpi_status
                    OUTPUT_QUIET ERROR_QUIET)
  endif()
  if(mpi_status EQUAL 0)
    find_package(MPI QUIET COMPONENTS ${language})
  endif()
endmacro()
