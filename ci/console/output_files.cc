#include "ci/console/output_files.h"

#include <exception>

#include "baselines/io/error.h"
#include "baselines/io/file_io.h"

namespace fusegate::ci {

void write_output_files(std::initializer_list<OutputFile> files,
                        const std::function<void(const std::filesystem::path&)>& written) {
  std::exception_ptr first;
  for (const OutputFile& file : files) {
    if (!file.path) continue;
    try {
      baselines::write_atomically(*file.path, file.text());
      written(*file.path);
    } catch (const baselines::InputError&) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace fusegate::ci
