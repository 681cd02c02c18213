# fusegate_add_benchmark(NAME SOURCES ... [SUITES ...] [LIBRARIES ...]): a benchmark program of the kernels and
# operations that the sources register. Its run files name the commit of the repository that it is built in. The
# suites are copied beside it, where it looks for them by name.
function(fusegate_add_benchmark name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "SOURCES;SUITES;LIBRARIES")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "fusegate_add_benchmark(${name}): unknown argument \"${ARG_UNPARSED_ARGUMENTS}\"; "
      "it takes SOURCES, SUITES and LIBRARIES")
  endif()
  if(NOT ARG_SOURCES)
    message(FATAL_ERROR "fusegate_add_benchmark(${name}): SOURCES is missing")
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE fusegate::bench_main ${ARG_LIBRARIES})
  # The one that fusegate has: kernels are looked up where they were registered.
  set_target_properties(${name} PROPERTIES CUDA_RUNTIME_LIBRARY Shared)
  fusegate_record_origin(${name})
  fusegate_copy_suites(${name} "${ARG_SUITES}")
endfunction()

function(fusegate_copy_suites name suites)
  foreach(suite IN LISTS suites)
    cmake_path(ABSOLUTE_PATH suite BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE file)
    if(NOT EXISTS ${file})
      message(FATAL_ERROR "fusegate_add_benchmark(${name}): SUITES: there is no ${suite}")
    endif()
    add_custom_command(TARGET ${name} POST_BUILD
      COMMAND ${CMAKE_COMMAND} -E make_directory $<TARGET_FILE_DIR:${name}>/suites
      COMMAND ${CMAKE_COMMAND} -E copy_if_different ${file} $<TARGET_FILE_DIR:${name}>/suites
      VERBATIM)
    # What follows the linking is done again where a suite changed alone.
    set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS ${file})
  endforeach()
endfunction()
