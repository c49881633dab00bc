# SPDX-License-Identifier: BSD-3-Clause
# embed_kernels follows the includes of texts, and fails with a message if one is not embedded. SCRIPT is
# cmake/embed_kernels.cmake, SCRATCH a folder for this test.
file(REMOVE_RECURSE ${SCRATCH})
file(WRITE ${SCRATCH}/core/A.hpp "#pragma once\n")
file(WRITE ${SCRATCH}/core/B.hpp "#pragma once\n")
file(WRITE ${SCRATCH}/room/kernel.cuh "#include \"core/A.hpp\"\n#include \"room/part.cuh\"\nint kernel[] = {1; 2};\n")
file(WRITE ${SCRATCH}/room/part.cuh "#pragma once\n#include \"room/kernel.cuh\"\n#include <cmath>\n")

function(embed room files used error)
  execute_process(COMMAND ${CMAKE_COMMAND} -DOUTPUT=${SCRATCH}/${room}.cpp -DROOT=${SCRATCH} -DROOM=${room}
                          "-DFILES=${files}" -DUSED=${used} -DUSED_NAMES=${SCRATCH}/${used}.cpp.names -P ${SCRIPT}
                  RESULT_VARIABLE result ERROR_VARIABLE message)
  string(REGEX REPLACE "[ \n]+" " " message "${message}")
  if(error STREQUAL "" AND NOT result EQUAL 0)
    message(FATAL_ERROR "embedding ${files} failed: ${message}")
  elseif(NOT error STREQUAL "" AND (result EQUAL 0 OR NOT message MATCHES "${error}"))
    message(FATAL_ERROR "embedding ${files} should have failed with '${error}', not with '${message}'")
  endif()
endfunction()

function(expect file what)
  file(READ ${file} content)
  string(FIND "${content}" "${what}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "${file} should hold '${what}':\n${content}")
  endif()
endfunction()

embed(core "core/A.hpp" "" "")
embed(room "room/kernel.cuh" core "")
expect(${SCRATCH}/room.cpp.names "core/A.hpp\nroom/kernel.cuh\nroom/part.cuh\n")
expect(${SCRATCH}/room.cpp.d "${SCRATCH}/room.cpp: ${SCRATCH}/room/kernel.cuh ${SCRATCH}/room/part.cuh\n")
expect(${SCRATCH}/room.cpp "int kernel[] = {1; 2};")
expect(${SCRATCH}/room.cpp "Texts texts = core_texts();")

file(WRITE ${SCRATCH}/room/part.cuh "#pragma once\n  #  include \"core/B.hpp\"\n")
embed(room "room/kernel.cuh" core "room/part.cuh includes core/B.hpp, which NVRTC would not find")
file(WRITE ${SCRATCH}/room/part.cuh "#include \"room/missing.cuh\"\n")
embed(room "room/kernel.cuh" core "room/part.cuh includes room/missing.cuh, which does not exist")
