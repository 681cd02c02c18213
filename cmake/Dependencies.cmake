# Every library we use, pinned. The system's package is taken where there is one (Debian 12,
# Ubuntu 24.04: ci/setup.sh installs them); elsewhere FetchContent builds the pinned version.
include(FetchContent)
include(GoogleTest)
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)  # oneDNN's threads, as Debian and we build it

function(fusegate_fetch name repository tag)
  message(STATUS "${name}: no package found, building ${repository} ${tag}")
  FetchContent_Declare(${name} GIT_REPOSITORY https://github.com/${repository}.git GIT_TAG ${tag}
                       GIT_SHALLOW ON SYSTEM)
  FetchContent_MakeAvailable(${name})
endfunction()

find_package(nlohmann_json 3.11 QUIET)
if(NOT nlohmann_json_FOUND)
  fusegate_fetch(nlohmann_json nlohmann/json v3.11.3)
endif()

# 3.0.1 in Debian, 3.6 in Ubuntu: its package calls no other minor version than its own compatible.
find_package(simdjson QUIET)
if(NOT simdjson_FOUND)
  fusegate_fetch(simdjson simdjson/simdjson v3.6.4)
endif()

find_package(fmt 9 QUIET)
if(NOT fmt_FOUND)
  fusegate_fetch(fmt fmtlib/fmt 9.1.0)
endif()

find_package(CLI11 2.1 QUIET)
if(NOT CLI11_FOUND)
  fusegate_fetch(CLI11 CLIUtils/CLI11 v2.3.2)
endif()

find_package(ZLIB 1.2 QUIET)
if(NOT ZLIB_FOUND)
  set(ZLIB_BUILD_EXAMPLES OFF CACHE INTERNAL "")
  fusegate_fetch(zlib madler/zlib v1.3.1)
  target_include_directories(zlibstatic INTERFACE ${zlib_SOURCE_DIR} ${zlib_BINARY_DIR})
  add_library(ZLIB::ZLIB ALIAS zlibstatic)
endif()

# Only Boost.Math is used, and it is header-only.
find_package(Boost 1.74 QUIET)
if(Boost_FOUND)
  add_library(fusegate_boost_math INTERFACE)
  target_link_libraries(fusegate_boost_math INTERFACE Boost::headers)
else()
  fusegate_fetch(boost_math boostorg/math boost-1.83.0)
  add_library(fusegate_boost_math INTERFACE)
  target_link_libraries(fusegate_boost_math INTERFACE Boost::math)
  target_compile_definitions(fusegate_boost_math INTERFACE BOOST_MATH_STANDALONE)
endif()

find_package(benchmark 1.7 QUIET)
if(NOT benchmark_FOUND)
  set(BENCHMARK_ENABLE_TESTING OFF CACHE INTERNAL "")
  set(BENCHMARK_ENABLE_INSTALL OFF CACHE INTERNAL "")
  fusegate_fetch(benchmark google/benchmark v1.8.3)
endif()

find_package(dnnl 2.6 QUIET CONFIG)
if(NOT dnnl_FOUND)
  find_package(dnnl 3 QUIET CONFIG)
endif()
if(NOT dnnl_FOUND)
  foreach(part TESTS EXAMPLES)
    set(DNNL_BUILD_${part} OFF CACHE INTERNAL "")
  endforeach()
  fusegate_fetch(dnnl oneapi-src/oneDNN v3.4.1)
  add_library(DNNL::dnnl ALIAS dnnl)
endif()

if(BUILD_TESTING)
  find_package(GTest 1.12 QUIET)
  if(NOT GTest_FOUND)
    fusegate_fetch(googletest google/googletest v1.14.0)
    add_library(GTest::gmock ALIAS gmock)
    add_library(GTest::gtest_main ALIAS gtest_main)
  endif()
endif()
