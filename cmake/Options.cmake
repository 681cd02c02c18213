# Compile options of all our targets, in fusegate_options.

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_EXTENSIONS OFF)

option(FUSEGATE_CUDA "Build the CUDA kernels if a toolkit is found" ON)
set(FUSEGATE_SANITIZERS "" CACHE STRING "Sanitizers for every target, such as address,undefined")

add_library(fusegate_options INTERFACE)
# Not CMAKE_CXX_STANDARD, which CUDA targets would inherit (see Cuda.cmake).
target_compile_features(fusegate_options INTERFACE cxx_std_20)
target_include_directories(fusegate_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(fusegate_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Werror>)
if(FUSEGATE_SANITIZERS)
  set(sanitize -fsanitize=${FUSEGATE_SANITIZERS} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(fusegate_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:${sanitize}>)
  target_link_options(fusegate_options INTERFACE ${sanitize})
endif()

include(Rooms)
