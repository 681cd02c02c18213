# Whoever links fusegate::kernels gets the GPUs too. They register themselves, so that a linker that drops what
# nobody names must be told to keep them.
get_target_property(fusegate_kernels fusegate::kernels ALIASED_TARGET)
if(NOT fusegate_kernels)
  set(fusegate_kernels fusegate::kernels)
endif()
set_property(TARGET ${fusegate_kernels} APPEND PROPERTY INTERFACE_LINK_LIBRARIES
  "$<BUILD_INTERFACE:fusegate::cuda;-Wl,--push-state,--no-as-needed,$<TARGET_FILE:fusegate::cuda>,--pop-state>")
