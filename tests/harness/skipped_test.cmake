# SPDX-License-Identifier: BSD-3-Clause
# Runs shards of GPU tests by ctest and expects a failure to count as one, whatever else a test prints.
#   cmake -DPROBE=program -DSCRATCH=folder -DTESTS=folder of all tests -P skipped_test.cmake
set(cases pass_pass:Passed skip_pass:Passed skip_skip:Skipped skip_fail:Failed fail_skip:Failed pass_fail:Failed
    "skip_crash:Subprocess aborted")
list(TRANSFORM cases REPLACE ":.*" "" OUTPUT_VARIABLE names)
execute_process(
  COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/project -B ${SCRATCH} -DPROBE=${PROBE} "-DCASES=${names}"
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_CTEST_COMMAND} --test-dir ${SCRATCH}
                OUTPUT_VARIABLE output ERROR_VARIABLE ignored RESULT_VARIABLE status)
set(wrong "")
foreach(case ${cases})
  string(REPLACE ":" ";" case ${case})
  list(POP_FRONT case name expected)
  if(NOT output MATCHES "device\\.${name}\\.0 [.* ]*(Passed|Failed|Skipped|Subprocess aborted)")
    list(APPEND wrong "${name} did not run")
    continue()
  endif()
  set(met "${CMAKE_MATCH_1}")
  if(NOT met STREQUAL expected)
    list(APPEND wrong "${name}: ${met}, expected ${expected}")
  endif()
endforeach()
if(status EQUAL 0)
  list(APPEND wrong "ctest ends with code 0 although tests failed")
endif()

# No test may be skipped because of words in its output.
file(GLOB_RECURSE lists ${TESTS}/CMakeLists.txt ${TESTS}/*.cmake)
foreach(file ${lists})
  file(STRINGS ${file} found REGEX "SKIP_REGULAR_[E]XPRESSION")
  if(found)
    list(APPEND wrong "${file} skips tests by words of their output, which hide a failure")
  endif()
endforeach()
if(wrong)
  list(JOIN wrong "\n  " wrong)
  message(FATAL_ERROR "${output}\n  ${wrong}")
endif()
