// Gives a fuzz target every file of the given folders, where the compiler has no libFuzzer. Flags
// of libFuzzer are ignored.
#include <filesystem>
#include <iostream>

#include "baselines/io/file_io.h"
#include "tests/fuzzing/target.h"

int main(int argc, char** argv) {
  int inputs = 0;
  for (int i = 1; i < argc; ++i) {
    if (argv[i][0] == '-') continue;
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      std::cout << entry.path().string() << std::endl;  // the last line names what broke it
      const std::string text = fusegate::baselines::read_file(entry.path());
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
      ++inputs;
    }
  }
  return inputs == 0;
}
