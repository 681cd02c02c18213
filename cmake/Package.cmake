# Debian packages, one of each component (Install.cmake): `cpack -G DEB` in the build folder.
set(CPACK_PACKAGE_VENDOR "The fusegate authors")
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "The fusegate authors <fusegate@users.noreply.github.com>")
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL runtime development)
set(CPACK_STRIP_FILES ON)
set(same_version "(= ${PROJECT_VERSION})")

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME fusegate)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "The gate, and the library that benchmark programs are linked with.
 fusegate finds out whether GPU kernels got slower, how sure that is, and why.")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "git, curl")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME fusegate-dev)
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Headers and CMake package of fusegate.
 For benchmark programs of your own kernels, such as fusegate init writes.")
# The compiler is only suggested, as in Debian's own -dev packages: g++ and cmake take 300 MB, and users of nvcc or clang
# have them already. A project's gate.sh names missing tools.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "fusegate ${same_version}")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "cmake (>= 3.24), make, g++ (>= 4:12), git")

# NVIDIA's libraries are no dependencies of the package: they may come from pip or an archive, unknown to dpkg.
if(TARGET fusegate_cuda)
  list(APPEND CPACK_COMPONENTS_ALL cuda)
  set(CPACK_DEBIAN_CUDA_PACKAGE_NAME fusegate-cuda)
  set(CPACK_COMPONENT_CUDA_DESCRIPTION "GPUs for fusegate, with CUDA ${CUDAToolkit_VERSION_MAJOR}.
 It needs libcudart, libcublas and libcublasLt of CUDA ${CUDAToolkit_VERSION_MAJOR}, however they were installed.")
  set(CPACK_DEBIAN_CUDA_PACKAGE_DEPENDS "fusegate-dev ${same_version}")
endif()
include(CPack)
