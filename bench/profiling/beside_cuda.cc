#include "bench/profiling/beside_cuda.h"

#include <dlfcn.h>
#include <link.h>

#include <filesystem>
#include <vector>

namespace fusegate::bench {
namespace {

namespace fs = std::filesystem;

// The folders of CUDA's runtime and of PyTorch's libraries.
std::vector<fs::path> loaded_cuda_folders() {
  std::vector<fs::path> folders;
  const auto see = [](dl_phdr_info* library, std::size_t, void* folders) {
    const fs::path file = library->dlpi_name;
    const std::string name = file.filename().string();
    if (name.starts_with("libcudart.so") || name.starts_with("libtorch")) {
      static_cast<std::vector<fs::path>*>(folders)->push_back(file.parent_path());
    }
    return 0;
  };
  dl_iterate_phdr(see, &folders);
  return folders;
}

// From such a folder: a toolkit's; and the packages' for CUDA 12 and, with the major version in
// their name, for later ones.
std::vector<fs::path> folders_from(const fs::path& folder, const std::string& library) {
  const fs::path later = "cu" + library.substr(library.rfind('.') + 1);
  return {folder,
          folder / "../extras/CUPTI/lib64",
          folder / "../../../extras/CUPTI/lib64",
          folder / "../../cuda_cupti/lib",
          folder / "../../nvidia/cuda_cupti/lib",
          folder / "../../nvidia" / later / "lib"};
}

}  // namespace

void* open_beside_cuda(const std::string& library) {
  constexpr int kMode = RTLD_NOW | RTLD_LOCAL;
  if (void* const opened = dlopen(library.c_str(), kMode)) return opened;
  for (const fs::path& folder : loaded_cuda_folders()) {
    for (const fs::path& other : folders_from(folder, library)) {
      if (void* const opened = dlopen((other / library).c_str(), kMode)) return opened;
    }
  }
  return nullptr;
}

}  // namespace fusegate::bench
