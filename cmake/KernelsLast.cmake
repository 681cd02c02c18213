# fusegate_kernels_last(TARGET): links the program with its kernels behind all else (kernels_last.ld), where the linker can.
include(CheckLinkerFlag)

set(FUSEGATE_KERNELS_LAST ${CMAKE_CURRENT_LIST_DIR}/kernels_last.ld)
check_linker_flag(CXX LINKER:-T,${FUSEGATE_KERNELS_LAST} FUSEGATE_LINKS_KERNELS_LAST)

function(fusegate_kernels_last target)
  if(FUSEGATE_LINKS_KERNELS_LAST)
    target_link_options(${target} PRIVATE LINKER:-T,${FUSEGATE_KERNELS_LAST})
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${FUSEGATE_KERNELS_LAST})
  endif()
endfunction()
