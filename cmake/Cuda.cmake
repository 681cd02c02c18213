# The CUDA toolkit, where one is found: sm_80 (A100), sm_90a (H100, H200; wgmma needs the "a"), and
# PTX for anything newer than sm_80.
set(FUSEGATE_CUDA_FOUND OFF)
if(FUSEGATE_CUDA)
  include(CheckLanguage)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80 90a-real)
  endif()
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    find_package(CUDAToolkit 12.0 REQUIRED)
    set(CMAKE_CUDA_STANDARD 20)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    set(FUSEGATE_CUDA_FOUND ON)
    target_compile_options(fusegate_options INTERFACE
      "$<$<COMPILE_LANGUAGE:CUDA>:--Werror=all-warnings;-Xcompiler=-Wall,-Wextra,-Werror;-lineinfo>")
    # Found in the toolkit's tree, so that CUDA headers are system headers for the host compiler too.
    message(STATUS "CUDA ${CUDAToolkit_VERSION} for ${CMAKE_CUDA_ARCHITECTURES}")
  else()
    message(STATUS "No CUDA compiler found: building for the CPU alone")
  endif()
endif()
