// Writes a trace as fusegate_bench would record one, for baselines/traces/perfetto_test.py to look
// at what a file of ours holds. Takes the file's name.
#include <exception>
#include <iostream>

#include "baselines/io/file_io.h"
#include "baselines/traces/test_trace.h"
#include "baselines/traces/writer.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "Usage: fusegate_example_trace FILE\n";
    return 2;
  }
  try {
    fusegate::baselines::write_atomically(
        argv[1], fusegate::baselines::trace_text(fusegate::baselines::example_trace()));
  } catch (const std::exception& error) {
    std::cerr << "fusegate_example_trace: " << error.what() << '\n';
    return 2;
  }
  return 0;
}
