# Whoever links fusegate::kernels gets the GPUs too. They register themselves, so that a linker that drops what
# nobody names must be told to keep them. The libraries that these need are linked by the program too: it knows where
# its toolkit lies, and a library finds what the program has loaded.
get_target_property(fusegate_kernels fusegate::kernels ALIASED_TARGET)
if(NOT fusegate_kernels)
  set(fusegate_kernels fusegate::kernels)
endif()
set_property(TARGET ${fusegate_kernels} APPEND PROPERTY INTERFACE_LINK_LIBRARIES
  "$<BUILD_INTERFACE:fusegate::cuda;CUDA::cublas;CUDA::cublasLt;-Wl,--push-state,--no-as-needed,$<TARGET_FILE:fusegate::cuda>,$<TARGET_FILE:CUDA::cublas>,$<TARGET_FILE:CUDA::cublasLt>,--pop-state>")
