# The targets for other projects, with the same names in this build and when installed:
#   fusegate::kernels     the contract and the devices: libfusegate.so, and with CUDA libfusegate_cuda.so
#   fusegate::bench_main  these and a main(): a program needs only registrations
#   fusegate::fusegate    the gate
# Both libraries have the objects of the rooms with LIBRARY. fusegate_engine, the library of the Python package, has them
# but for NO_ENGINE: no kernels, and no library of NVIDIA's.

# The public headers. A test compiles each alone, as installed.
set(FUSEGATE_PUBLIC_HEADERS
  kernels/contract/activation.h
  kernels/contract/device.h
  kernels/contract/errors.h
  kernels/contract/expectation.h
  kernels/contract/expected.h
  kernels/contract/fill.h
  kernels/contract/host_device.h
  kernels/contract/kernel.h
  kernels/contract/number_format.h
  kernels/contract/problem.h
  kernels/contract/ranks.h
  kernels/contract/rounding.h
  kernels/contract/stage_marks.h
  kernels/contract/verify.h
  kernels/contract/work.h
  kernels/contract/workspace.h
  bench/program/fusegate.h
  bench/machine/origin.h
  bench/program/bench_main.h)
set(FUSEGATE_PUBLIC_CUDA_HEADERS
  kernels/cuda/device/cublas.h
  kernels/cuda/device/cuda.h)

# Copies them as they are installed: with #include <fusegate/...> for a room's header.
function(fusegate_publish_headers folder)
  foreach(header ${FUSEGATE_PUBLIC_HEADERS} ${FUSEGATE_PUBLIC_CUDA_HEADERS})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${header})
    cmake_path(GET header FILENAME name)
    file(READ ${PROJECT_SOURCE_DIR}/${header} text)
    string(REGEX REPLACE "#include \"(kernels|bench)/[^\"]*/([^\"/]+)\"" "#include <fusegate/\\2>" text "${text}")
    file(CONFIGURE OUTPUT ${folder}/fusegate/${name} CONTENT "${text}" @ONLY)
  endforeach()
endfunction()
set(FUSEGATE_INCLUDE_FOLDER ${PROJECT_BINARY_DIR}/include)
fusegate_publish_headers(${FUSEGATE_INCLUDE_FOLDER})
add_library(fusegate_public_headers INTERFACE)
target_include_directories(fusegate_public_headers INTERFACE ${FUSEGATE_INCLUDE_FOLDER})

include(AddBenchmark)

# Called after all rooms. map: which symbols are exported.
function(fusegate_add_library target map rooms)
  set(objects)
  foreach(room ${rooms})
    list(APPEND objects $<TARGET_OBJECTS:${room}>)
  endforeach()
  add_library(${target} SHARED ${objects})
  # Hides the symbols of fmt and JSON: a program may link other versions of them.
  target_link_options(${target} PRIVATE "LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/${map}"
    LINKER:--no-undefined)
  set_target_properties(${target} PROPERTIES
    LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/${map} LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
endfunction()

# What Python opens: the C interface alone (bench/program/fusegate.h). It finds CUPTI and the driver at run time, and has
# a CUDA runtime of its own.
function(fusegate_add_engine)
  get_property(rooms GLOBAL PROPERTY FUSEGATE_ENGINE_ROOMS)
  fusegate_add_library(fusegate_engine engine.map "${rooms}")
  set_target_properties(fusegate_engine PROPERTIES CUDA_RUNTIME_LIBRARY Static)
  target_link_libraries(fusegate_engine PRIVATE fmt::fmt simdjson::simdjson nlohmann_json::nlohmann_json
    benchmark::benchmark re2::re2 Threads::Threads ${CMAKE_DL_LIBS} $<TARGET_NAME_IF_EXISTS:CUDA::cudart_static>)
endfunction()

function(fusegate_add_libraries)
  fusegate_add_engine()
  get_property(rooms GLOBAL PROPERTY FUSEGATE_LIBRARY_ROOMS)
  fusegate_add_library(fusegate_core fusegate.map "${rooms}")
  set_target_properties(fusegate_core PROPERTIES OUTPUT_NAME fusegate EXPORT_NAME core
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
  target_compile_features(fusegate_core INTERFACE cxx_std_20)
  # As a flag: see Cuda.cmake.
  target_compile_options(fusegate_core INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>)
  target_include_directories(fusegate_core INTERFACE
    $<BUILD_INTERFACE:${FUSEGATE_INCLUDE_FOLDER}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(fusegate_core PRIVATE fmt::fmt simdjson::simdjson nlohmann_json::nlohmann_json benchmark::benchmark
    re2::re2 DNNL::dnnl OpenMP::OpenMP_CXX Threads::Threads ${CMAKE_DL_LIBS})

  add_library(fusegate_for_kernels INTERFACE)
  set_target_properties(fusegate_for_kernels PROPERTIES EXPORT_NAME kernels)
  target_link_libraries(fusegate_for_kernels INTERFACE fusegate_core)
  add_library(fusegate::kernels ALIAS fusegate_for_kernels)

  add_library(fusegate_bench_main STATIC bench/program/main.cc)
  target_link_libraries(fusegate_bench_main PRIVATE $<BUILD_INTERFACE:fusegate_options> PUBLIC fusegate_for_kernels)
  set_target_properties(fusegate_bench_main PROPERTIES EXPORT_NAME bench_main POSITION_INDEPENDENT_CODE ON)
  add_library(fusegate::bench_main ALIAS fusegate_bench_main)
  add_executable(fusegate::fusegate ALIAS fusegate)

  get_property(rooms GLOBAL PROPERTY FUSEGATE_CUDA_LIBRARY_ROOMS)
  if(rooms)
    fusegate_add_library(fusegate_cuda fusegate.map "${rooms}")
    set_target_properties(fusegate_cuda PROPERTIES EXPORT_NAME cuda
      VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
    # One CUDA runtime for the library and for the program's own kernels.
    set_target_properties(fusegate_cuda PROPERTIES CUDA_RUNTIME_LIBRARY Shared)
    target_link_libraries(fusegate_cuda PUBLIC fusegate_core CUDA::cudart
      PRIVATE fmt::fmt nlohmann_json::nlohmann_json simdjson::simdjson CUDA::cublas CUDA::cublasLt
        ${CMAKE_DL_LIBS})
    # No folder of the build machine: on another machine, anybody who may write there could have libraries loaded. The
    # program adds the toolkit's folder (LinkCuda.cmake), and CUPTI is searched beside the runtime.
    set_target_properties(fusegate_cuda PROPERTIES INSTALL_RPATH "$ORIGIN")
    add_library(fusegate::cuda ALIAS fusegate_cuda)
    include(LinkCuda)
  endif()
endfunction()
