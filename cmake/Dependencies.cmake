# All libraries. The system's package is used if there is one (ci/setup.sh installs them on Debian 12 and Ubuntu 24.04);
# else FetchContent builds the pinned version, whose archive must have the hash given here.
include(FetchContent)
include(GoogleTest)
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)  # oneDNN's threads, as Debian and we build it

function(fusegate_fetch name repository tag sha256)
  message(STATUS "${name}: no package found, building ${repository} ${tag}")
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)  # it becomes part of libfusegate.so
  # SYSTEM comes first: CMake 3.25 would append it to the value before it.
  FetchContent_Declare(${name} SYSTEM URL https://github.com/${repository}/archive/refs/tags/${tag}.tar.gz
                       URL_HASH SHA256=${sha256})
  FetchContent_MakeAvailable(${name})
endfunction()

find_package(nlohmann_json 3.11 QUIET)
if(NOT nlohmann_json_FOUND)
  fusegate_fetch(nlohmann_json nlohmann/json v3.11.3
    0d8ef5af7f9794e3263480193c491549b2ba6cc74bb018906202ada498a79406)
endif()

# 3.0.1 in Debian, 3.6 in Ubuntu: no version is required, since its package declares only its own minor version compatible.
find_package(simdjson QUIET)
if(NOT simdjson_FOUND)
  fusegate_fetch(simdjson simdjson/simdjson v3.6.4
    7e93d5094a47180a3d451cb261ba29ac66f3f6ceb7c2a0884955e9a2bb06d818)
endif()

find_package(fmt 9 QUIET)
if(NOT fmt_FOUND)
  fusegate_fetch(fmt fmtlib/fmt 9.1.0
    5dea48d1fcddc3ec571ce2058e13910a0d4a6bab4cc09a809d8b1dd1c88ae6f2)
endif()

find_package(CLI11 2.1 QUIET)
if(NOT CLI11_FOUND)
  fusegate_fetch(CLI11 CLIUtils/CLI11 v2.3.2
    aac0ab42108131ac5d3344a9db0fdf25c4db652296641955720a4fbe52334e22)
endif()

# Debian's package of RE2 has no files for CMake. From 2023-07 on RE2 has, and needs Abseil.
find_package(re2 QUIET CONFIG)
if(NOT re2_FOUND)
  find_path(FUSEGATE_RE2_INCLUDE re2/re2.h)
  find_library(FUSEGATE_RE2_LIBRARY re2)
  if(FUSEGATE_RE2_INCLUDE AND FUSEGATE_RE2_LIBRARY)
    add_library(re2::re2 UNKNOWN IMPORTED)
    set_target_properties(re2::re2 PROPERTIES IMPORTED_LOCATION ${FUSEGATE_RE2_LIBRARY}
      INTERFACE_INCLUDE_DIRECTORIES ${FUSEGATE_RE2_INCLUDE} INTERFACE_LINK_LIBRARIES Threads::Threads)
  else()
    set(RE2_BUILD_TESTING OFF CACHE INTERNAL "")
    fusegate_fetch(re2 google/re2 2022-06-01
      f89c61410a072e5cbcf8c27e3a778da7d6fd2f2b5b1445cd4f4508bee946ab0f)
  endif()
endif()

find_package(ZLIB 1.2 QUIET)
if(NOT ZLIB_FOUND)
  set(ZLIB_BUILD_EXAMPLES OFF CACHE INTERNAL "")
  fusegate_fetch(zlib madler/zlib v1.3.1
    17e88863f3600672ab49182f217281b6fc4d3c762bde361935e436a95214d05c)
  target_include_directories(zlibstatic INTERFACE ${zlib_SOURCE_DIR} ${zlib_BINARY_DIR})
  add_library(ZLIB::ZLIB ALIAS zlibstatic)
endif()

# One C file. The readers of a history may be several threads, each with a connection of its own.
find_package(SQLite3 3.35 QUIET)
if(NOT SQLite3_FOUND)
  message(STATUS "sqlite3: no package found, building sqlite-amalgamation 3.40.1")
  enable_language(C)
  FetchContent_Declare(sqlite3 SYSTEM URL https://www.sqlite.org/2022/sqlite-amalgamation-3400100.zip
                       URL_HASH SHA256=49112cc7328392aa4e3e5dae0b2f6736d0153430143d21f69327788ff4efe734)
  FetchContent_MakeAvailable(sqlite3)
  add_library(fusegate_sqlite3 STATIC ${sqlite3_SOURCE_DIR}/sqlite3.c)
  target_compile_definitions(fusegate_sqlite3 PRIVATE SQLITE_OMIT_LOAD_EXTENSION SQLITE_THREADSAFE=1)
  target_include_directories(fusegate_sqlite3 SYSTEM INTERFACE ${sqlite3_SOURCE_DIR})
  target_link_libraries(fusegate_sqlite3 PRIVATE Threads::Threads)
  add_library(SQLite::SQLite3 ALIAS fusegate_sqlite3)
endif()

# What fat binaries are packed by. Without one of them, those that are packed by it are refused in a sentence. The archive
# comes first, so that a program runs where the library is not installed.
foreach(packing zstd lz4)
  find_path(FUSEGATE_${packing}_INCLUDE ${packing}.h)
  find_library(FUSEGATE_${packing}_LIBRARY NAMES lib${packing}.a ${packing})
  mark_as_advanced(FUSEGATE_${packing}_INCLUDE FUSEGATE_${packing}_LIBRARY)
  add_library(fusegate_${packing} INTERFACE)
  if(FUSEGATE_${packing}_INCLUDE AND FUSEGATE_${packing}_LIBRARY)
    target_include_directories(fusegate_${packing} SYSTEM INTERFACE ${FUSEGATE_${packing}_INCLUDE})
    target_link_libraries(fusegate_${packing} INTERFACE ${FUSEGATE_${packing}_LIBRARY})
    string(TOUPPER ${packing} name)
    target_compile_definitions(fusegate_${packing} INTERFACE FUSEGATE_HAS_${name})
  else()
    message(STATUS "${packing}: no package found (lib${packing}-dev), fat binaries packed by it will be refused")
  endif()
endforeach()

# Only Boost.Math is used, and it is header-only.
find_package(Boost 1.74 QUIET)
if(Boost_FOUND)
  add_library(fusegate_boost_math INTERFACE)
  target_link_libraries(fusegate_boost_math INTERFACE Boost::headers)
else()
  fusegate_fetch(boost_math boostorg/math boost-1.83.0
    53e5f7539a66899fe0fca3080405cbd5f7959da5394ec13664746741aece1705)
  add_library(fusegate_boost_math INTERFACE)
  target_link_libraries(fusegate_boost_math INTERFACE Boost::math)
  target_compile_definitions(fusegate_boost_math INTERFACE BOOST_MATH_STANDALONE)
endif()

find_package(benchmark 1.7 QUIET)
if(NOT benchmark_FOUND)
  set(BENCHMARK_ENABLE_TESTING OFF CACHE INTERNAL "")
  set(BENCHMARK_ENABLE_INSTALL OFF CACHE INTERNAL "")
  fusegate_fetch(benchmark google/benchmark v1.8.3
    6bc180a57d23d4d9515519f92b0c83d61b05b5bab188961f36ac7b06b0d9e9ce)
endif()

find_package(dnnl 2.6 QUIET CONFIG)
if(NOT dnnl_FOUND)
  find_package(dnnl 3 QUIET CONFIG)
endif()
if(NOT dnnl_FOUND)
  foreach(part TESTS EXAMPLES)
    set(DNNL_BUILD_${part} OFF CACHE INTERNAL "")
  endforeach()
  fusegate_fetch(dnnl oneapi-src/oneDNN v3.4.1
    906559a25581b292352420721112e1656d21029b66e8597816f9e741fbcdeadb)
  add_library(DNNL::dnnl ALIAS dnnl)
endif()

if(BUILD_TESTING)
  find_package(GTest 1.12 QUIET)
  if(NOT GTest_FOUND)
    fusegate_fetch(googletest google/googletest v1.14.0
      8ad598c73ad796e0d8280b082cebd82a630d73e73cd3c70057938a6501bba5d7)
  endif()
endif()
