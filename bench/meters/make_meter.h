// The meter of a device, whatever kind it is and however many ranks measure with it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "bench/meters/meter.h"

namespace fusegate::bench {

// How a kind of device is metered; registered by the file that implements it.
class MeterRegistration {
 public:
  MeterRegistration(std::string device_kind,
                    std::function<std::unique_ptr<Meter>(kernels::Device&)> make);
};

// The device must outlive it. Throws DeviceError where no meter of its kind is registered.
std::unique_ptr<Meter> make_meter(kernels::Device& device);

}  // namespace fusegate::bench
