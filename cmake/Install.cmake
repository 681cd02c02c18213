# cmake --install, in three components: runtime, development, and CUDA. Package.cmake makes a Debian package of each. The
# component wheel, by its name alone, is what lies in the Python package (bench/python/CMakeLists.txt).
include(CMakePackageConfigHelpers)

# Each package's licence, where Debian expects it.
foreach(part runtime:fusegate development:fusegate-dev cuda:fusegate-cuda)
  string(REPLACE ":" ";" part ${part})
  list(GET part 0 component)
  list(GET part 1 package)
  if(NOT component STREQUAL cuda OR TARGET fusegate_cuda)
    install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} RENAME copyright
      COMPONENT ${component})
  endif()
endforeach()
set(config ${CMAKE_INSTALL_LIBDIR}/cmake/fusegate)

function(fusegate_install_library target export component development)
  install(TARGETS ${target} EXPORT ${export}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component} NAMELINK_COMPONENT ${development})
endfunction()

function(fusegate_install_headers component)
  foreach(header ${ARGN})
    cmake_path(GET header FILENAME name)
    install(FILES ${FUSEGATE_INCLUDE_FOLDER}/fusegate/${name} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/fusegate
      COMPONENT ${component})
  endforeach()
endfunction()

function(fusegate_install_program component)
  install(TARGETS fusegate RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${component} ${ARGN})
  install(DIRECTORY ${PROJECT_BINARY_DIR}/share/fusegate/template DESTINATION ${CMAKE_INSTALL_DATADIR}/fusegate
    COMPONENT ${component} ${ARGN} USE_SOURCE_PERMISSIONS)
endfunction()
fusegate_install_program(runtime)
fusegate_install_library(fusegate_core fusegateTargets runtime development)

install(TARGETS fusegate_for_kernels fusegate_bench_main EXPORT fusegateTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
fusegate_install_headers(development ${FUSEGATE_PUBLIC_HEADERS})
install(EXPORT fusegateTargets NAMESPACE fusegate:: DESTINATION ${config} COMPONENT development)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/fusegateConfig.cmake.in
  ${PROJECT_BINARY_DIR}/generated/fusegateConfig.cmake INSTALL_DESTINATION ${config} PATH_VARS CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/fusegateConfigVersion.cmake
  COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/generated/fusegateConfig.cmake
  ${PROJECT_BINARY_DIR}/generated/fusegateConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/AddBenchmark.cmake ${CMAKE_CURRENT_LIST_DIR}/Origin.cmake
  ${CMAKE_CURRENT_LIST_DIR}/WriteOrigin.cmake ${CMAKE_CURRENT_LIST_DIR}/LinkCuda.cmake
  ${CMAKE_CURRENT_LIST_DIR}/CudaArchitectures.cmake
  ${CMAKE_CURRENT_LIST_DIR}/KernelsLast.cmake ${CMAKE_CURRENT_LIST_DIR}/kernels_last.ld
  DESTINATION ${config} COMPONENT development)

if(TARGET fusegate_cuda)
  fusegate_install_library(fusegate_cuda fusegateCudaTargets cuda cuda)
  fusegate_install_headers(cuda ${FUSEGATE_PUBLIC_CUDA_HEADERS})
  install(EXPORT fusegateCudaTargets NAMESPACE fusegate:: FILE fusegateCudaTargets.cmake DESTINATION ${config}
    COMPONENT cuda)
endif()

fusegate_install_program(wheel EXCLUDE_FROM_ALL)
install(TARGETS fusegate_engine LIBRARY DESTINATION lib COMPONENT wheel EXCLUDE_FROM_ALL)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION . COMPONENT wheel EXCLUDE_FROM_ALL)
add_custom_target(fusegate_wheel DEPENDS fusegate fusegate_engine)
