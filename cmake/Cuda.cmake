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
    set(FUSEGATE_CUDA_FOUND ON)
    # The standard as a flag: Debian 12's CMake 3.25 does not know that nvcc has CUDA_STANDARD 20.
    target_compile_options(fusegate_options INTERFACE
      "$<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>"
      "$<$<COMPILE_LANGUAGE:CUDA>:--Werror=all-warnings;-Xcompiler=-Wall,-Wextra,-Werror;-lineinfo>")
    message(STATUS "CUDA ${CUDAToolkit_VERSION} for ${CMAKE_CUDA_ARCHITECTURES}")
  else()
    message(STATUS "No CUDA compiler found: building for the CPU alone")
  endif()
endif()
