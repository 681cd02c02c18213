# fusegate_choose_cuda_architectures(): what a project's own CUDA kernels are compiled for, called before
# enable_language(CUDA) and heeded where neither CMAKE_CUDA_ARCHITECTURES nor $CUDAARCHS says it: the GPUs that
# are here, else what fusegate itself is compiled for. CMake's "native" does not configure without a GPU, as where
# packages are built.
function(fusegate_choose_cuda_architectures)
  if(DEFINED CMAKE_CUDA_ARCHITECTURES OR DEFINED ENV{CUDAARCHS})
    return()
  endif()
  fusegate_find_gpus(found)
  if(found)
    message(STATUS "fusegate: CUDA kernels are compiled for the GPU that is here: ${found}")
  else()
    set(found ${fusegate_CUDA_ARCHITECTURES})
    message(STATUS "fusegate: no GPU is here, so CUDA kernels are compiled for what fusegate is: ${found} "
      "(-DCMAKE_CUDA_ARCHITECTURES=... names others)")
  endif()
  set(CMAKE_CUDA_ARCHITECTURES ${found} PARENT_SCOPE)
endfunction()

# Of several GPUs each architecture once. A container may have the device and not the tool.
function(fusegate_find_gpus result)
  set(found)
  find_program(nvidia_smi nvidia-smi NO_CACHE)
  if(nvidia_smi)
    execute_process(COMMAND ${nvidia_smi} --query-gpu=compute_cap --format=csv,noheader
      OUTPUT_VARIABLE capabilities ERROR_QUIET TIMEOUT 60)
    string(REGEX MATCHALL "[0-9]+[.][0-9]+" capabilities "${capabilities}")
    list(TRANSFORM capabilities REPLACE "[.]" "" OUTPUT_VARIABLE found)
    list(REMOVE_DUPLICATES found)
  endif()
  if(NOT found AND EXISTS /dev/nvidia0)
    set(found native)
  endif()
  set(${result} ${found} PARENT_SCOPE)
endfunction()
