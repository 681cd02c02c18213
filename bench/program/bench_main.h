// A benchmark program's main: it sweeps, checks and times whatever is registered where it is called.
// Link fusegate::bench_main to have a main() that is this alone.
#pragma once

namespace fusegate::bench {

// The exit code: 0, or 2 where something was wrong, which it prints to stderr.
int bench_main(int argc, char** argv);

}  // namespace fusegate::bench
