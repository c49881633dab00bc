# SPDX-License-Identifier: BSD-3-Clause
# `cmake --install`: the program with man page, completion, decks, documents and the parts in Python that draw reports
# (component program); the library with its public headers and a CMake package (component development).
include(CMakePackageConfigHelpers)
set(share ${CMAKE_INSTALL_DATADIR}/hyperplane)

# Man page and completion are what the program prints of its tables.
set(made ${CMAKE_BINARY_DIR}/made)
add_custom_command(OUTPUT ${made}/hyperplane.1 ${made}/hyperplane.bash
  COMMAND ${CMAKE_COMMAND} -E make_directory ${made}
  COMMAND hyperplane help --man > ${made}/hyperplane.1
  COMMAND hyperplane help --completion bash > ${made}/hyperplane.bash
  DEPENDS hyperplane VERBATIM)
add_custom_target(hyperplane_made ALL DEPENDS ${made}/hyperplane.1 ${made}/hyperplane.bash)
# All that is installed, without the tests.
add_custom_target(installable DEPENDS hyperplane hyperplane_library hyperplane_made)

# Libraries that are not the system's, those of modules for example, are found without LD_LIBRARY_PATH.
set_target_properties(hyperplane PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
install(TARGETS hyperplane RUNTIME COMPONENT program)
install(FILES ${made}/hyperplane.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
install(FILES ${made}/hyperplane.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
  RENAME hyperplane COMPONENT program)
install(DIRECTORY inputs DESTINATION ${share} COMPONENT program)
install(PROGRAMS apps/reporting/plot.py apps/reporting/report.py DESTINATION ${share}/reporting COMPONENT program)
install(DIRECTORY apps/reporting DESTINATION ${share} COMPONENT program
  FILES_MATCHING PATTERN *.py PATTERN *.css PATTERN *.js PATTERN plot.py EXCLUDE PATTERN report.py EXCLUDE PATTERN __pycache__ EXCLUDE)
install(DIRECTORY python/hyperplane DESTINATION ${share} COMPONENT program
  FILES_MATCHING PATTERN *.py PATTERN __pycache__ EXCLUDE)
if(TARGET hyperplane_python)
  add_dependencies(installable hyperplane_python)
  install(TARGETS hyperplane_python LIBRARY DESTINATION ${share}/hyperplane COMPONENT program)
endif()
install(FILES README.md CHANGELOG.md CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright COMPONENT program)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program
  FILES_MATCHING PATTERN *.md PATTERN *.png)

# The targets behind hyperplane::hyperplane carry no include directories: outside, there is nothing to include of them.
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/hyperplane)
install(TARGETS hyperplane_library hyperplane_precond hyperplane_solvers hyperplane_core hyperplane_flags
  EXPORT hyperplaneTargets ARCHIVE COMPONENT development)
get_target_property(public_headers hyperplane_library HYPERPLANE_PUBLIC_HEADERS)
install(FILES ${public_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/hyperplane COMPONENT development)
install(EXPORT hyperplaneTargets NAMESPACE hyperplane:: DESTINATION ${package} COMPONENT development)
configure_package_config_file(cmake/package_config.in ${CMAKE_BINARY_DIR}/hyperplaneConfig.cmake
  INSTALL_DESTINATION ${package})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/hyperplaneConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/hyperplaneConfig.cmake ${CMAKE_BINARY_DIR}/hyperplaneConfigVersion.cmake
  DESTINATION ${package} COMPONENT development)
