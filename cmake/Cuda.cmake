# The CUDA toolkit, if there is one: for sm_80 (A100), sm_90a (H100, H200; wgmma needs the "a"), and PTX for other GPUs
# newer than sm_80.
set(FUSEGATE_CUDA_FOUND OFF)
set(FUSEGATE_NVRTC_FOUND OFF)
set(FUSEGATE_CUPTI_FOUND OFF)

# fusegate_nvrtc. CMake's own CUDA::nvrtc links libcuda, without which a program does not start on a machine without a
# driver. The builtins are linked, since libnvrtc opens them by name and does not search the program's library folders.
# cudaLibraryLoadData, which loads NVRTC's output, is new in 12.8.
function(fusegate_find_nvrtc)
  find_library(FUSEGATE_NVRTC nvrtc HINTS ${CUDAToolkit_LIBRARY_DIR} NO_DEFAULT_PATH)
  find_library(FUSEGATE_NVRTC_BUILTINS nvrtc-builtins HINTS ${CUDAToolkit_LIBRARY_DIR} NO_DEFAULT_PATH)
  if(NOT FUSEGATE_NVRTC OR NOT FUSEGATE_NVRTC_BUILTINS OR CUDAToolkit_VERSION VERSION_LESS 12.8)
    message(STATUS "No NVRTC of CUDA 12.8 or later: building without fused_specialized")
    return()
  endif()
  add_library(fusegate_nvrtc INTERFACE)
  target_link_libraries(fusegate_nvrtc INTERFACE ${FUSEGATE_NVRTC}
    "-Wl,--push-state,--no-as-needed,${FUSEGATE_NVRTC_BUILTINS},--pop-state")
  set(FUSEGATE_NVRTC_FOUND ON PARENT_SCOPE)
endfunction()

# fusegate_cupti: the header, the library's name for dlopen() (bench/profiling/cupti_activity.cc), and its folder, which
# differs in older toolkits.
function(fusegate_find_cupti)
  set(extras ${CUDAToolkit_LIBRARY_DIR}/../extras/CUPTI ${CUDAToolkit_LIBRARY_DIR}/../../../extras/CUPTI)
  find_path(FUSEGATE_CUPTI_INCLUDE_DIR cupti.h
            HINTS ${CUDAToolkit_INCLUDE_DIRS} ${extras} PATH_SUFFIXES include NO_DEFAULT_PATH)
  find_library(FUSEGATE_CUPTI cupti
               HINTS ${CUDAToolkit_LIBRARY_DIR} ${extras} PATH_SUFFIXES lib64 NO_DEFAULT_PATH)
  if(NOT FUSEGATE_CUPTI_INCLUDE_DIR OR NOT FUSEGATE_CUPTI)
    message(STATUS "No CUPTI: profiles of kernels will not be recorded")
    return()
  endif()
  get_filename_component(folder ${FUSEGATE_CUPTI} DIRECTORY)
  add_library(fusegate_cupti INTERFACE)
  target_include_directories(fusegate_cupti SYSTEM INTERFACE ${FUSEGATE_CUPTI_INCLUDE_DIR})
  target_compile_definitions(fusegate_cupti INTERFACE
    FUSEGATE_CUPTI_LIBRARY="libcupti.so.${CUDAToolkit_VERSION_MAJOR}")
  target_link_options(fusegate_cupti INTERFACE "LINKER:-rpath,${folder}")
  set(FUSEGATE_CUPTI_FOUND ON PARENT_SCOPE)
endfunction()

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
    # What -lineinfo keeps is most of an object, and text: of both a sixth is left. Drivers before CUDA 12.4 do not read it.
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
      target_compile_options(fusegate_options INTERFACE "$<$<COMPILE_LANGUAGE:CUDA>:-compress-mode=size>")
    endif()
    fusegate_find_nvrtc()
    fusegate_find_cupti()
    message(STATUS "CUDA ${CUDAToolkit_VERSION} for ${CMAKE_CUDA_ARCHITECTURES}")
  else()
    message(STATUS "No CUDA compiler found: building for the CPU only")
  endif()
endif()
