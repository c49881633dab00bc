# SPDX-License-Identifier: BSD-3-Clause
# add_device_shards(ROOM PROGRAM SHARDS ENVIRONMENT): the tests of PROGRAM that need a GPU, as SHARDS tests of ctest named
# device.ROOM.n. A shard is skipped where its process says so by code 77 (tests/harness/main.cpp), never by words in its
# output: for ctest such words outrank a failure.
function(add_device_shards room program shards environment)
  math(EXPR last "${shards} - 1")
  foreach(shard RANGE ${last})
    add_test(NAME device.${room}.${shard} COMMAND ${program} "--gtest_filter=*OnDevice*")
    set_tests_properties(device.${room}.${shard} PROPERTIES
      LABELS gpu TIMEOUT 300 SKIP_RETURN_CODE 77
      ENVIRONMENT "${environment};GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${shard}")
  endforeach()
endfunction()

# add_device_ranks_of_hosts(ROOM PROGRAM): the tests of ranks on GPUs once more, as ranks of several hosts, which exchange
# messages (tests/on_ranks.hpp), as device.ROOM.hosts.messages and device.ROOM.hosts.nccl.
function(add_device_ranks_of_hosts room program)
  foreach(how messages nccl)
    add_test(NAME device.${room}.hosts.${how} COMMAND ${program} "--gtest_filter=*Ranks*OnDevice*:*OnDevice*Ranks*")
    set_tests_properties(device.${room}.hosts.${how} PROPERTIES
      LABELS gpu TIMEOUT 600 SKIP_RETURN_CODE 77 ENVIRONMENT "HYPERPLANE_TEST_BETWEEN_HOSTS=${how}")
  endforeach()
endfunction()
