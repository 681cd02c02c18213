# fusegate_add_benchmark(NAME SOURCES ... [SUITES ...] [MODELS ...] [LIBRARIES ...]): adds a benchmark program of the
# kernels and operations that the sources register. Its run files record the commit of its repository. The suites, and
# the models that they name, are copied beside it, where it finds them by name.
include(${CMAKE_CURRENT_LIST_DIR}/KernelsLast.cmake)

function(fusegate_add_benchmark name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "SOURCES;SUITES;MODELS;LIBRARIES")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "fusegate_add_benchmark(${name}): unknown argument \"${ARG_UNPARSED_ARGUMENTS}\"; "
      "known: SOURCES, SUITES, MODELS, LIBRARIES")
  endif()
  if(NOT ARG_SOURCES)
    message(FATAL_ERROR "fusegate_add_benchmark(${name}): SOURCES is missing; name the kernels' sources")
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE fusegate::bench_main ${ARG_LIBRARIES})
  # The runtime that libfusegate uses too: another one would not find kernels that were registered with it.
  set_target_properties(${name} PROPERTIES CUDA_RUNTIME_LIBRARY Shared)
  fusegate_kernels_last(${name})
  fusegate_record_origin(${name})
  fusegate_copy_beside(${name} SUITES suites "${ARG_SUITES}")
  fusegate_copy_beside(${name} MODELS suites/models "${ARG_MODELS}")
endfunction()

function(fusegate_copy_beside name argument folder files)
  foreach(given IN LISTS files)
    cmake_path(ABSOLUTE_PATH given BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE file)
    if(NOT EXISTS ${file})
      message(FATAL_ERROR "fusegate_add_benchmark(${name}): ${argument}: no such file: ${given}")
    endif()
    add_custom_command(TARGET ${name} POST_BUILD
      COMMAND ${CMAKE_COMMAND} -E make_directory $<TARGET_FILE_DIR:${name}>/${folder}
      COMMAND ${CMAKE_COMMAND} -E copy_if_different ${file} $<TARGET_FILE_DIR:${name}>/${folder}
      VERBATIM)
    # A changed file alone also links again, and so runs the commands above.
    set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS ${file})
  endforeach()
endfunction()
