# Debian packages, a component each (Install.cmake): `cpack -G DEB` in the build folder.
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
 fusegate tells whether GPU kernels got slower, how sure that is, and why.")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
# Not recommended, since apt installs that too: matplotlib alone brings 150 packages, for the HTML page.
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "python3-matplotlib, python3-jinja2, git")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME fusegate-dev)
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Headers and CMake package of fusegate.
 For benchmark programs of one's own kernels, such as fusegate init writes.")
# As Debian's own -dev packages do, it leaves the compiler to its user: g++ and cmake take 300 MB, and who builds with
# nvcc or clang has them. gate.sh of a project asks for what is missing.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "fusegate ${same_version}")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "cmake (>= 3.24), make, g++ (>= 4:12), git")

# NVIDIA's libraries come from many places, pip and archives among them, of which dpkg knows nothing: who
# installs this has the toolkit that it was built with.
if(TARGET fusegate_cuda)
  list(APPEND CPACK_COMPONENTS_ALL cuda)
  set(CPACK_DEBIAN_CUDA_PACKAGE_NAME fusegate-cuda)
  set(CPACK_COMPONENT_CUDA_DESCRIPTION "GPUs for fusegate, with CUDA ${CUDAToolkit_VERSION_MAJOR}.
 It needs libcudart, libcublas and libcublasLt of CUDA ${CUDAToolkit_VERSION_MAJOR}, however they were installed.")
  set(CPACK_DEBIAN_CUDA_PACKAGE_DEPENDS "fusegate-dev ${same_version}")
endif()
include(CPack)
