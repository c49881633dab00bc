# SPDX-License-Identifier: BSD-3-Clause
# Fails if DOCUMENT differs from the output of `PROGRAM help --markdown`.
execute_process(COMMAND ${PROGRAM} help --markdown OUTPUT_VARIABLE printed COMMAND_ERROR_IS_FATAL ANY)
file(READ ${DOCUMENT} written)
if(NOT printed STREQUAL written)
  message(FATAL_ERROR "${DOCUMENT} is stale; renew it: ${PROGRAM} help --markdown > ${DOCUMENT}")
endif()
