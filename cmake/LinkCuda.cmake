# Adds GPUs to fusegate::kernels. They register themselves, so the linker must keep the library although no symbol of it
# is used. The program links the toolkit's libraries too: it knows their folder, and fusegate's library then finds them
# loaded.
get_target_property(fusegate_kernels fusegate::kernels ALIASED_TARGET)
if(NOT fusegate_kernels)
  set(fusegate_kernels fusegate::kernels)
endif()
set_property(TARGET ${fusegate_kernels} APPEND PROPERTY INTERFACE_LINK_LIBRARIES
  "$<BUILD_INTERFACE:fusegate::cuda;CUDA::cublas;CUDA::cublasLt;-Wl,--push-state,--no-as-needed,$<TARGET_FILE:fusegate::cuda>,$<TARGET_FILE:CUDA::cublas>,$<TARGET_FILE:CUDA::cublasLt>,--pop-state>")
