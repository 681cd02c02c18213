// What on this machine would spoil measurements, as a list of checks. Reading the machine and
// judging it are apart, so that every judgement can be tested on any machine.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "baselines/record/warning.h"

namespace fusegate::ci {

// What `fusegate_bench --environment` says.
struct DeviceFacts {
  bool is_gpu = false;
  std::string device;               // its name; empty where the environment names none
  std::optional<bool> persistence;  // of a GPU, where the driver reports it
  std::vector<baselines::Warning> warnings;
  std::optional<bool> ecc{}, mig{};  // of a GPU, where the driver reports them
  std::optional<double> power_limit_w{};
};

struct HostFacts {
  double load = 0;  // of the last minute
  unsigned cores = 1;
  std::set<std::string> governors;  // of all cores; empty where the system reports none
  std::uintmax_t free_bytes = 0;    // where runs are written
  bool has_git = false;
  bool has_nvidia_smi = false;
  bool has_ncu = false;
  bool has_mps = false;  // CUDA's Multi-Process Service runs
  bool has_gpu = false;  // by its device file or its tools, where no program reports it
};

struct Check {
  std::string name;
  bool ok = false;
  std::string finding;
  std::string advice;  // what to do; empty where it is ok
};

// Throws InputError naming the field that is missing or of another type.
DeviceFacts parse_device_facts(const std::string& source, const nlohmann::json& json);

// Where there is no program that reports the GPU.
Check no_program_check();

std::vector<Check> check_device(const DeviceFacts& device);
std::vector<Check> check_host(const HostFacts& host, bool has_gpu);

}  // namespace fusegate::ci
