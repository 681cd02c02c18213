# A room is a folder with a library and tests of its own.

# Precompiled headers: nlohmann's alone takes a second of each source. CMAKE_DISABLE_PRECOMPILE_HEADERS=ON builds without,
# which finds missing includes.
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

# ccache needs this flag to cache sources with a precompiled header.
set(FUSEGATE_PRECOMPILE_OPTIONS $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
# Tests are compiled at -O0, in half the time: compiling them takes longer than running them.
set(FUSEGATE_TEST_OPTIONS $<$<COMPILE_LANGUAGE:CXX>:-O0>)
# With sanitizers, without line numbers: a tenth of compiling, and a third of what is linked. A report names the test's
# functions, and the lines of our libraries.
if(FUSEGATE_SANITIZERS)
  list(APPEND FUSEGATE_TEST_OPTIONS $<$<COMPILE_LANGUAGE:CXX>:-g0>)
endif()
# With sanitizers, tests leave out the checks of every access, which halves the time again (ci/commands/measuring/run_test.cc: 3.9 s,
# not 8.3 s). Libraries have them, and AddressSanitizer finds null pointers. Linked after fusegate_options, which has all
# checks.
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

# Batches of sources share their headers and templates: seven tests of ci/console take 3.5 s and not 9.3 s. A name in an
# anonymous namespace must be unique in its room, and in its tests. Without batches, a change of one file compiles sooner.
option(FUSEGATE_UNITY_BUILD "Compile rooms and tests in batches of sources" ON)
function(fusegate_batch name)
  set_target_properties(${name} PROPERTIES UNITY_BUILD ${FUSEGATE_UNITY_BUILD} UNITY_BUILD_BATCH_SIZE 8)
  # g++ warns of a type in an anonymous namespace within a class if the file is not the main one.
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endfunction()

# fusegate_room(NAME [OBJECT] [JSON] [LIBRARY [CUDA] [NO_ENGINE]] SOURCES ... PUBLIC ... PRIVATE ...): adds the room's
# library. OBJECT: its sources register themselves. JSON: they use JSON, and so the precompiled header and batches.
# LIBRARY: the installed library has its objects too; with CUDA, that for CUDA; so has the engine for Python, unless
# NO_ENGINE (Library.cmake).
function(fusegate_room name)
  cmake_parse_arguments(ARG "OBJECT;JSON;LIBRARY;CUDA;NO_ENGINE" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
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
    if(NOT ARG_NO_ENGINE)
      set_property(GLOBAL APPEND PROPERTY FUSEGATE_ENGINE_ROOMS ${name})
    endif()
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    # Direct calls within the library, as in a program.
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-semantic-interposition>)
  endif()
  if(ARG_JSON)
    fusegate_batch(${name})
  endif()
  # Only without optimisation: at -O3, g++ 12 warns of the standard library's own code if it is precompiled.
  if(ARG_JSON AND FUSEGATE_SANITIZERS)
    target_compile_options(${name} PRIVATE ${FUSEGATE_PRECOMPILE_OPTIONS})
    target_precompile_headers(${name} REUSE_FROM fusegate_precompiled)
  endif()
endfunction()

# The end of googletest's output if tests were skipped and none failed, and its output if there are no tests.
set(FUSEGATE_SKIPPED "\\[  SKIPPED \\] [0-9]+ tests?, listed below:\n(\\[  SKIPPED \\] [^\n]+\n)+$")
set(FUSEGATE_NO_TEST "Running 0 tests")

# fusegate_test(NAME [BATCHED] SOURCES ... LIBRARIES ... [DEFINITIONS ...] [SHARDS n] [MAY_SKIP filter]): adds a test program, unless
# BUILD_TESTING is off, as one entry of ctest, or as n that share its tests. Tests that match the filter need something
# that a machine may lack (a GPU). They are an entry of their own, which ctest shows as skipped. No other test may skip.
function(fusegate_test name)
  if(NOT BUILD_TESTING)
    return()
  endif()
  cmake_parse_arguments(ARG "BATCHED" "SHARDS;MAY_SKIP" "SOURCES;LIBRARIES;DEFINITIONS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_compile_definitions(${name} PRIVATE ${ARG_DEFINITIONS})
  target_link_libraries(${name} PRIVATE fusegate_options fusegate_test_sanitizers ${ARG_LIBRARIES} fmt::fmt
    nlohmann_json::nlohmann_json GTest::gmock GTest::gtest_main)
  target_compile_options(${name} PRIVATE ${FUSEGATE_TEST_OPTIONS} ${FUSEGATE_PRECOMPILE_OPTIONS})
  target_precompile_headers(${name} REUSE_FROM fusegate_precompiled_tests)
  if(ARG_BATCHED)
    fusegate_batch(${name})
  endif()
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

# fusegate_python_test(PATH [SANITIZED] ENVIRONMENT ...): adds the unittest module PATH.py, which runs in its folder with the
# Python of ci/setup.sh, or else with another one, where it is skipped (77) if packages are missing. With sanitizers, only
# SANITIZED tests run: they give our programs input that may break them. COST: before most others, since some take half a
# minute.
function(fusegate_python_test path)
  cmake_parse_arguments(ARG "SANITIZED" "" "ENVIRONMENT" ${ARGN})
  if(NOT BUILD_TESTING OR (FUSEGATE_SANITIZERS AND NOT ARG_SANITIZED))
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
  set_tests_properties(${path} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300 COST 2 ENVIRONMENT "${ARG_ENVIRONMENT}")
endfunction()
