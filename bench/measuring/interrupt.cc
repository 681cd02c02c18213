#include "bench/measuring/interrupt.h"

#include <csignal>

namespace fusegate::bench {
namespace {

volatile std::sig_atomic_t signalled = 0;

}  // namespace

void stop_on_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { signalled = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return signalled != 0; }

}  // namespace fusegate::bench
