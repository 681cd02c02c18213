#include "ci/run/interrupts.h"

#include <pthread.h>
#include <sys/signalfd.h>

#include <cerrno>
#include <system_error>

namespace fusegate::ci {

Interrupts::Interrupts() {
  sigset_t ours;
  sigemptyset(&ours);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ours, signal);
  signals_ = baselines::FileDescriptor(signalfd(-1, &ours, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!signals_.is_open()) throw std::system_error(errno, std::system_category(), "signalfd");
  pthread_sigmask(SIG_BLOCK, &ours, &old_mask_);
}

Interrupts::~Interrupts() {
  while (take() != 0) {
  }
  pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr);
}

int Interrupts::take() const {
  signalfd_siginfo info;
  return read(signals_.get(), &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo)
                                                                 : 0;
}

}  // namespace fusegate::ci
