// A benchmark program's main: sweeps, checks and times what is registered in the program. Link
// fusegate::bench_main for a main() that only calls this.
#pragma once

namespace fusegate::bench {

// Returns the exit code: 0, or 2 after an error, printed to stderr.
int bench_main(int argc, char** argv);

}  // namespace fusegate::bench
