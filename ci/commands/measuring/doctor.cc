#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>

#include "baselines/io/error.h"
#include "ci/commands/measuring/machine_checks.h"
#include "ci/commands/measuring/options.h"
#include "ci/console/layout.h"
#include "ci/processes/child_process.h"

namespace fusegate::ci {
namespace {

namespace fs = std::filesystem;

// Loading a GPU's driver and libraries takes seconds, not minutes.
constexpr double kEnvironmentTimeoutS = 120;

bool runs(const std::vector<std::string>& arguments) { return !output_of(arguments).empty(); }

// Empty where there is none.
std::string first_line(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

std::set<std::string> read_governors() {
  std::set<std::string> governors;
  std::error_code error;
  for (const auto& cpu : fs::directory_iterator("/sys/devices/system/cpu", error)) {
    governors.insert(first_line(cpu.path() / "cpufreq" / "scaling_governor"));
  }
  governors.erase("");
  return governors;
}

// By the names of processes, which Linux cuts after 15 characters: of nvidia-cuda-mps-control and
// of nvidia-cuda-mps-server the same.
bool runs_mps() {
  std::error_code error;
  for (const auto& process : fs::directory_iterator("/proc", error)) {
    if (first_line(process.path() / "comm") == "nvidia-cuda-mps") return true;
  }
  return false;
}

HostFacts read_host() {
  HostFacts host;
  double load[1] = {0};
  if (getloadavg(load, 1) == 1) host.load = load[0];
  host.cores = std::max(1u, std::thread::hardware_concurrency());
  host.governors = read_governors();
  std::error_code error;
  const fs::space_info space = fs::space(fs::current_path(), error);
  if (!error) host.free_bytes = space.available;
  host.has_git = runs({"git", "--version"});
  host.has_nvidia_smi = runs({"nvidia-smi", "--version"});
  host.has_ncu = runs({"ncu", "--version"});
  host.has_gpu = fs::exists("/dev/nvidia0", error) || host.has_nvidia_smi;
  host.has_mps = runs_mps();
  return host;
}

DeviceFacts read_device(const std::string& program) {
  ChildProcess process;
  process.arguments = {program, "--environment"};
  process.timeout_s = kEnvironmentTimeoutS;
  const ChildOutput output = collect_output(std::move(process));
  if (!output.failure.empty()) {
    throw baselines::InputError(program, "--environment", output.failure);
  }
  return parse_device_facts(program, nlohmann::json::parse(output.out, nullptr, false));
}

void print_checks(const std::vector<Check>& checks, Console& console) {
  for (const Check& check : checks) {
    console.out.print("{:<6}{:<21}{}\n", check.ok ? "ok" : "warn", check.name, check.finding);
    if (!check.ok) console.out.print("{:<27}-> {}\n", "", check.advice);
  }
}

}  // namespace

void add_doctor(CommandLine& line) {
  auto [app, request] = line.add("doctor", "Check what on this machine would spoil measurements",
                                 "fusegate doctor --program build/my_bench", doctor_command);
  app.add_option("--program", request.program,
                 "Benchmark program, which reports the GPU; by default the fusegate_bench beside "
                 "this program, "
                 "if there is one")
      ->type_name("PROGRAM");
}

baselines::ExitCode doctor_command(const DoctorRequest& request, Console& console) {
  const std::string program =
      request.program.empty() ? default_bench_program().string() : request.program;
  // Before the program runs: it loads the host itself.
  const HostFacts host = read_host();
  // The packages have none: users bring their own.
  if (request.program.empty() && !fs::exists(program)) {
    print_checks({no_program_check()}, console);
    print_checks(check_host(host, host.has_gpu), console);
    return baselines::ExitCode::kNoRegression;
  }
  const DeviceFacts device = read_device(program);
  print_checks({{"benchmark program", true, program, ""}}, console);
  print_checks(check_device(device), console);
  print_checks(check_host(host, device.is_gpu), console);
  return baselines::ExitCode::kNoRegression;
}

}  // namespace fusegate::ci
