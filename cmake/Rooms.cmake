# A room is a folder with a library and tests of its own.

# What is parsed once and for all that include it: nlohmann's header alone takes a second of each source.
# CMAKE_DISABLE_PRECOMPILE_HEADERS=ON builds without, which shows an include that is missing.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/precompiled.cc CONTENT "")
set(FUSEGATE_PRECOMPILED <fmt/format.h> <nlohmann/json.hpp> <algorithm> <filesystem> <functional> <map> <memory>
  <optional> <sstream> <string> <vector>)

function(fusegate_precompile name)
  cmake_parse_arguments(ARG "" "" "HEADERS;LIBRARIES;OPTIONS" ${ARGN})
  add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/precompiled.cc)
  target_link_libraries(${name} PRIVATE fusegate_options fmt::fmt nlohmann_json::nlohmann_json ${ARG_LIBRARIES})
  target_compile_options(${name} PRIVATE ${ARG_OPTIONS} ${FUSEGATE_PRECOMPILE_OPTIONS})
  target_precompile_headers(${name} PRIVATE ${FUSEGATE_PRECOMPILED} ${ARG_HEADERS})
endfunction()

# ccache keeps what includes a precompiled header only where g++ is told to say so.
set(FUSEGATE_PRECOMPILE_OPTIONS $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
# Tests are compiled more often than they run long: at -O0 in half the time.
set(FUSEGATE_TEST_OPTIONS $<$<COMPILE_LANGUAGE:CXX>:-O0>)
# With sanitizers in half the time again (ci/commands/run_test.cc: 3.9 s for 8.3 s) without the checks
# before every access, which the libraries keep. Where a pointer is null, AddressSanitizer sees it.
# Linked after fusegate_options, which has all checks.
add_library(fusegate_test_sanitizers INTERFACE)
if(FUSEGATE_SANITIZERS MATCHES undefined)
  target_compile_options(fusegate_test_sanitizers INTERFACE
    -fno-sanitize=null,alignment,vptr,object-size,pointer-overflow,nonnull-attribute,returns-nonnull-attribute)
endif()
if(FUSEGATE_SANITIZERS)
  fusegate_precompile(fusegate_precompiled)
endif()
if(BUILD_TESTING)
  fusegate_precompile(fusegate_precompiled_tests
    HEADERS <gmock/gmock.h> <gtest/gtest.h> LIBRARIES fusegate_test_sanitizers GTest::gmock
    OPTIONS ${FUSEGATE_TEST_OPTIONS})
endif()

# fusegate_room(NAME [OBJECT] [JSON] [LIBRARY [CUDA]] SOURCES ... PUBLIC ... PRIVATE ...): its library, of
# objects where they register themselves. JSON: its sources read or write some, and share the header.
# LIBRARY: its objects go into the installed library too, or into that for CUDA (Library.cmake).
function(fusegate_room name)
  cmake_parse_arguments(ARG "OBJECT;JSON;LIBRARY;CUDA" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  if(ARG_OBJECT)
    add_library(${name} OBJECT ${ARG_SOURCES})
  else()
    add_library(${name} STATIC ${ARG_SOURCES})
  endif()
  target_link_libraries(${name} PUBLIC fusegate_options ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
  if(ARG_LIBRARY AND NOT FUSEGATE_SANITIZERS)
    set(library FUSEGATE_LIBRARY_ROOMS)
    if(ARG_CUDA)
      set(library FUSEGATE_CUDA_LIBRARY_ROOMS)
    endif()
    set_property(GLOBAL APPEND PROPERTY ${library} ${name})
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    # Calls within the library go straight to what they name, as in a program.
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-semantic-interposition>)
  endif()
  # Unoptimised alone: at -O3 g++ 12 warns of the standard library's own code once it is precompiled.
  if(ARG_JSON AND FUSEGATE_SANITIZERS)
    target_compile_options(${name} PRIVATE ${FUSEGATE_PRECOMPILE_OPTIONS})
    target_precompile_headers(${name} REUSE_FROM fusegate_precompiled)
  endif()
endfunction()

# What googletest prints at the end where tests skipped and none failed, and where there was none.
set(FUSEGATE_SKIPPED "\\[  SKIPPED \\] [0-9]+ tests?, listed below:\n(\\[  SKIPPED \\] [^\n]+\n)+$")
set(FUSEGATE_NO_TEST "Running 0 tests")

# fusegate_test(NAME SOURCES ... LIBRARIES ... [DEFINITIONS ...] [SHARDS n] [MAY_SKIP filter]): a test
# program beside what it tests, none where BUILD_TESTING is off; one entry of ctest, or n that share its
# tests. What the filter names needs what a machine may lack (a GPU): an entry of its own, which ctest
# shows as skipped where one does. No other test may skip.
function(fusegate_test name)
  if(NOT BUILD_TESTING)
    return()
  endif()
  cmake_parse_arguments(ARG "" "SHARDS;MAY_SKIP" "SOURCES;LIBRARIES;DEFINITIONS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_compile_definitions(${name} PRIVATE ${ARG_DEFINITIONS})
  target_link_libraries(${name} PRIVATE fusegate_options fusegate_test_sanitizers ${ARG_LIBRARIES} fmt::fmt
    nlohmann_json::nlohmann_json GTest::gmock GTest::gtest_main)
  target_compile_options(${name} PRIVATE ${FUSEGATE_TEST_OPTIONS} ${FUSEGATE_PRECOMPILE_OPTIONS})
  target_precompile_headers(${name} REUSE_FROM fusegate_precompiled_tests)
  if(ARG_MAY_SKIP)
    add_test(NAME ${name}.may_skip COMMAND ${name} --gtest_filter=${ARG_MAY_SKIP})
    set_tests_properties(${name}.may_skip PROPERTIES TIMEOUT 300 SKIP_REGULAR_EXPRESSION "${FUSEGATE_SKIPPED}"
      FAIL_REGULAR_EXPRESSION "${FUSEGATE_NO_TEST}")
  endif()
  if(ARG_MAY_SKIP STREQUAL "*")
    return()
  endif()
  if(NOT ARG_SHARDS)
    set(ARG_SHARDS 1)
  endif()
  math(EXPR last "${ARG_SHARDS} - 1")
  foreach(shard RANGE ${last})
    set(entry ${name})
    if(last GREATER 0)
      set(entry ${name}.${shard})
    endif()
    add_test(NAME ${entry} COMMAND ${name} --gtest_filter=-${ARG_MAY_SKIP})
    set_tests_properties(${entry} PROPERTIES TIMEOUT 300 COST ${ARG_SHARDS}
      FAIL_REGULAR_EXPRESSION "\\[  SKIPPED \\];${FUSEGATE_NO_TEST}"
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${ARG_SHARDS};GTEST_SHARD_INDEX=${shard}")
  endforeach()
endfunction()

# fusegate_python_test(PATH ENVIRONMENT ...): the unittest module PATH.py, run in its folder by the
# Python that ci/setup.sh makes; with another it skips (77) where packages are missing. Sanitizers see
# nothing of Python: the preset that has them runs those tests alone that start a program of ours.
function(fusegate_python_test path)
  cmake_parse_arguments(ARG "" "" "ENVIRONMENT" ${ARGN})
  if(NOT BUILD_TESTING OR (FUSEGATE_SANITIZERS AND NOT "${ARG_ENVIRONMENT}" MATCHES TARGET_FILE))
    return()
  endif()
  find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
  set(python ${PROJECT_SOURCE_DIR}/build/venv/bin/python3)
  if(NOT EXISTS ${python})
    set(python ${Python3_EXECUTABLE})
  endif()
  cmake_path(GET path FILENAME module)
  add_test(NAME ${path} COMMAND ${python} -m unittest ${module}
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  set_tests_properties(${path} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300 ENVIRONMENT "${ARG_ENVIRONMENT}")
endfunction()
