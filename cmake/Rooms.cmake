# A room is a folder with a library and tests of its own.

# fusegate_room(NAME [OBJECT] SOURCES ... PUBLIC ... PRIVATE ...): its library, of objects where they
# register themselves.
function(fusegate_room name)
  cmake_parse_arguments(ARG "OBJECT" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  if(ARG_OBJECT)
    add_library(${name} OBJECT ${ARG_SOURCES})
  else()
    add_library(${name} STATIC ${ARG_SOURCES})
  endif()
  target_link_libraries(${name} PUBLIC fusegate_options ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
endfunction()

# fusegate_test(NAME SOURCES ... LIBRARIES ...): a test program beside what it tests.
function(fusegate_test name)
  if(NOT BUILD_TESTING)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE fusegate_options ${ARG_LIBRARIES} GTest::gmock GTest::gtest_main)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 300)
endfunction()

# fusegate_python_test(PATH ARGUMENTS ... ENVIRONMENT ...): PATH.py, from the project's root. In the
# Python that ci/setup.sh makes; with another it skips (77) where packages are missing.
function(fusegate_python_test path)
  if(NOT BUILD_TESTING)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "ARGUMENTS;ENVIRONMENT" ${ARGN})
  find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
  set(python ${CMAKE_SOURCE_DIR}/build/venv/bin/python3)
  if(NOT EXISTS ${python})
    set(python ${Python3_EXECUTABLE})
  endif()
  add_test(NAME ${path} COMMAND ${python} ${CMAKE_SOURCE_DIR}/${path}.py ${ARG_ARGUMENTS})
  set_tests_properties(${path} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300 ENVIRONMENT "${ARG_ENVIRONMENT}")
endfunction()
