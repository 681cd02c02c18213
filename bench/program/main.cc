// A program that is nothing but its registrations.
#include "bench/program/bench_main.h"

int main(int argc, char** argv) { return fusegate::bench::bench_main(argc, argv); }
