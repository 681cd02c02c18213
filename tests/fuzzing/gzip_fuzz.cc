// A file, packed or not: as much of it as is unpacked before any JSON is read.
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <span>

#include "baselines/io/file_descriptor.h"
#include "ci/console/gzip_file.h"
#include "tests/fuzzing/target.h"

using namespace fusegate;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const baselines::FileDescriptor file(memfd_create("fuzzed", MFD_CLOEXEC));
  static const std::string path = "/proc/self/fd/" + std::to_string(file.get());
  const bool written = ftruncate(file.get(), 0) == 0 &&
                       pwrite(file.get(), data, size, 0) == static_cast<ssize_t>(size);
  tests::promise(written, "there is memory for a file");
  tests::read_or_refuse(path, [&] { return ci::read_unpacked(path); });
  return 0;
}
