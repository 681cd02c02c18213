#include "bench/profiling/beside_cuda.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

namespace fusegate::bench {
namespace {

namespace fs = std::filesystem;

// A folder like Python's, with copies of a library under the names of NVIDIA's and PyTorch's.
class BesideCudaTest : public testing::Test {
 protected:
  ~BesideCudaTest() override { fs::remove_all(folder_); }

  fs::path file(const std::string& path) const {
    fs::create_directories((folder_ / path).parent_path());
    fs::copy_file(FUSEGATE_SOME_LIBRARY, folder_ / path);
    return folder_ / path;
  }
  // Whether it is found while the other one is loaded, and not before.
  static bool finds(const std::string& library, const fs::path& loaded) {
    if (open_beside_cuda(library) != nullptr) return false;
    void* const handle = dlopen(loaded.c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(handle, nullptr) << dlerror();
    void* const found = open_beside_cuda(library);
    if (found != nullptr) dlclose(found);
    dlclose(handle);
    return found != nullptr;
  }

 private:
  fs::path folder_ = testing::TempDir() + "beside_cuda_" + std::to_string(getpid());
};

TEST_F(BesideCudaTest, FindsAPackageOfCuda12) {
  file("nvidia/cuda_cupti/lib/libcupti.so.912");
  EXPECT_TRUE(finds("libcupti.so.912", file("nvidia/cuda_runtime/lib/libcudart.so.912")));
  EXPECT_TRUE(finds("libcupti.so.912", file("torch/lib/libtorch_cuda.so")));
}

TEST_F(BesideCudaTest, FindsAPackageOfLaterVersions) {
  file("nvidia/cu913/lib/libcupti.so.913");
  EXPECT_TRUE(finds("libcupti.so.913", file("nvidia/cu913/lib/libcudart.so.913")));
  EXPECT_TRUE(finds("libcupti.so.913", file("torch/lib/libtorch.so")));
}

TEST_F(BesideCudaTest, FindsAToolkits) {
  file("extras/CUPTI/lib64/libcupti.so.914");
  EXPECT_TRUE(finds("libcupti.so.914", file("lib64/libcudart.so.914")));
  EXPECT_TRUE(finds("libcupti.so.914", file("targets/x86_64-linux/lib/libcudart.so.914")));
}

TEST_F(BesideCudaTest, TakesNoOtherVersion) {
  file("nvidia/cu913/lib/libcupti.so.913");
  EXPECT_FALSE(finds("libcupti.so.914", file("nvidia/cu913/lib/libcudart.so.913")));
}

}  // namespace
}  // namespace fusegate::bench
