// FUSEGATE_HOST_DEVICE: for functions that both the host and kernels on the device call.
#pragma once

#ifdef __CUDACC__
#define FUSEGATE_HOST_DEVICE __host__ __device__
#else
#define FUSEGATE_HOST_DEVICE
#endif
