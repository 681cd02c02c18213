# fusegate_record_origin(TARGET): the program records the commit of its repository, whether that had changes, and the
# toolchain.

# One line, which is compared as text.
function(fusegate_toolchain out)
  set(toolchain "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
  if(CMAKE_CUDA_COMPILER)
    list(JOIN CMAKE_CUDA_ARCHITECTURES "," architectures)
    string(APPEND toolchain ", nvcc ${CMAKE_CUDA_COMPILER_VERSION} for ${architectures}")
  endif()
  string(APPEND toolchain ", ${CMAKE_BUILD_TYPE}")
  string(STRIP "${CMAKE_CXX_FLAGS} ${CMAKE_CUDA_FLAGS}" flags)
  if(flags)
    string(APPEND toolchain ", ${flags}")
  endif()
  set(${out} "${toolchain}" PARENT_SCOPE)
endfunction()

function(fusegate_record_origin target)
  fusegate_toolchain(toolchain)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${target}_origin.cc)
  add_custom_target(${target}_origin
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_CURRENT_SOURCE_DIR} -DOUTPUT=${source} "-DTOOLCHAIN=${toolchain}"
      -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/WriteOrigin.cmake
    BYPRODUCTS ${source}
    COMMENT "Reading the commit" VERBATIM)
  add_dependencies(${target} ${target}_origin)
  target_sources(${target} PRIVATE ${source})
endfunction()
