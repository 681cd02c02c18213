#include "bench/program/turn.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>

#include "baselines/io/file_descriptor.h"
#include "baselines/record/program_variables.h"

namespace fusegate::bench {
namespace {

// Fields of /proc/self/stat (proc(5)) behind the command's name, which may have blanks: the third
// and so on; the 22nd is the start, in clock ticks since the machine started.
double seconds_since_start() {
  constexpr int kFieldsBefore = 22 - 3;
  std::ifstream file("/proc/self/stat");
  file.ignore(std::numeric_limits<std::streamsize>::max(), ')');
  std::string skipped;
  for (int i = 0; i < kFieldsBefore; ++i) file >> skipped;
  double start_ticks = 0;
  timespec now{};
  if (!(file >> start_ticks) || clock_gettime(CLOCK_BOOTTIME, &now) != 0) return 0;
  const double now_s = static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
  return std::max(0.0, now_s - start_ticks / static_cast<double>(sysconf(_SC_CLK_TCK)));
}

// Whether this process has a context of the CUDA driver, by the driver itself where something has
// loaded it. Loads and initialises nothing.
bool uses_gpu() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (driver == nullptr) return false;
  const auto count = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
  const auto state =
      reinterpret_cast<int (*)(int, unsigned*, int*)>(dlsym(driver, "cuDevicePrimaryCtxGetState"));
  int devices = 0;
  bool any = false;
  // Fails where nobody has initialised the driver; then there is no context.
  if (count != nullptr && state != nullptr && count(&devices) == 0) {
    for (int device = 0; device < devices; ++device) {
      unsigned flags = 0;
      int active = 0;
      any = any || (state(device, &flags, &active) == 0 && active != 0);
    }
  }
  dlclose(driver);
  return any;
}

}  // namespace

double load_s() {
  static const double seconds = seconds_since_start();
  return seconds;
}

void await_turn() {
  const char* const variable = std::getenv(baselines::kTurnVariable);
  const std::string text = variable != nullptr ? variable : "";
  // A program that takes this one's place, or is started by it, has no turn to wait for.
  unsetenv(baselines::kTurnVariable);
  if (text.empty()) return;
  int number = -1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  const baselines::FileDescriptor turn(number);
  const char word = uses_gpu() ? baselines::kUsesGpu : baselines::kReady;
  char byte = 0;
  if (send(number, &word, 1, MSG_NOSIGNAL) != 1 || read(number, &byte, 1) != 1) {
    throw std::runtime_error(fmt::format(
        "{}={}: no turn came; if something between fusegate and this program closes its files, set "
        "{}= for fusegate",
        baselines::kTurnVariable, text, baselines::kTurnVariable));
  }
}

}  // namespace fusegate::bench
