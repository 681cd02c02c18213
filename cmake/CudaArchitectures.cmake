# fusegate_choose_cuda_architectures(): sets CMAKE_CUDA_ARCHITECTURES for a project's CUDA kernels, unless it or $CUDAARCHS
# is set: to this machine's GPUs, else to fusegate's own architectures. Call it before enable_language(CUDA). CMake's
# "native" cannot be used: it fails on a machine without a GPU, such as one that builds packages.
function(fusegate_choose_cuda_architectures)
  if(DEFINED CMAKE_CUDA_ARCHITECTURES OR DEFINED ENV{CUDAARCHS})
    return()
  endif()
  fusegate_find_gpus(found)
  if(found)
    message(STATUS "fusegate: compiling CUDA kernels for this machine's GPU: ${found}")
  else()
    set(found ${fusegate_CUDA_ARCHITECTURES})
    message(STATUS "fusegate: no GPU found, so compiling CUDA kernels for fusegate's own architectures: ${found} "
      "(-DCMAKE_CUDA_ARCHITECTURES=... names others)")
  endif()
  set(CMAKE_CUDA_ARCHITECTURES ${found} PARENT_SCOPE)
endfunction()

# Each architecture once. A container may have the device but not nvidia-smi.
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
