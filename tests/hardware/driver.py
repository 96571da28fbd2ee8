"""The few functions of the CUDA driver that the comparisons need, through ctypes."""
import ctypes
import os
import subprocess
import tempfile


class DriverError(Exception):
    """A call that the driver refused."""


class Driver:
    """The first GPU. Texts are compiled by the driver; addresses and handles are numbers."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.device = device.value
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status:
            text = ctypes.c_char_p()
            self.library.cuGetErrorName(status, ctypes.byref(text))
            raise DriverError(f"{name}: {(text.value or b'?').decode()}")

    def description(self):
        name, version = ctypes.create_string_buffer(100), ctypes.c_int()
        self.call("cuDeviceGetName", name, 100, self.device)
        self.call("cuDriverGetVersion", ctypes.byref(version))
        return f"{name.value.decode()}, driver of CUDA {version.value // 1000}.{version.value % 1000 // 10}"

    def load(self, text):
        """A module of PTX; what ptxas says is in the exception. HARDWARE_PTXAS has another command than the driver's compiler, as
        `ptxas -arch=sm_90 -fmad false`."""
        module = ctypes.c_void_p()
        if "HARDWARE_PTXAS" in os.environ:
            with tempfile.TemporaryDirectory() as folder:
                with open(f"{folder}/a.ptx", "w") as file:
                    file.write(text)
                command = [*os.environ["HARDWARE_PTXAS"].split(), f"{folder}/a.ptx", "-o", f"{folder}/a.cubin"]
                ran = subprocess.run(command, capture_output=True, text=True)
                if ran.returncode:
                    raise DriverError(ran.stdout + ran.stderr)
                with open(f"{folder}/a.cubin", "rb") as file:
                    self.call("cuModuleLoadData", ctypes.byref(module), file.read())
            return module
        log = ctypes.create_string_buffer(8192)
        options = (ctypes.c_int * 2)(5, 6)  # CU_JIT_ERROR_LOG_BUFFER and its size
        values = (ctypes.c_void_p * 2)(ctypes.cast(log, ctypes.c_void_p), 8192)
        try:
            self.call("cuModuleLoadDataEx", ctypes.byref(module), text.encode() + b"\0", 2, options, values)
        except DriverError as error:
            raise DriverError(f"{error}: {log.value.decode(errors='replace')}") from None
        return module

    def unload(self, module):
        self.call("cuModuleUnload", module)

    def function(self, module, name):
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        return function

    def allocate(self, size):
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        return address.value

    def free(self, address):
        self.call("cuMemFree_v2", ctypes.c_uint64(address))

    def write(self, address, data):
        self.call("cuMemcpyHtoD_v2", ctypes.c_uint64(address), data, ctypes.c_size_t(len(data)))

    def read(self, address, size):
        data = ctypes.create_string_buffer(size)
        self.call("cuMemcpyDtoH_v2", data, ctypes.c_uint64(address), ctypes.c_size_t(size))
        return data.raw

    def launch(self, function, grid, block, shared, parameters):
        """Runs a kernel to its end. Parameters are bytes, one string each."""
        if shared > 48 << 10:
            self.call("cuFuncSetAttribute", function, 8, shared)
        buffers = [ctypes.create_string_buffer(data, max(len(data), 1)) for data in parameters]
        values = (ctypes.c_void_p * max(len(buffers), 1))(*[ctypes.addressof(buffer) for buffer in buffers])
        self.call("cuLaunchKernel", function, *grid, *block, shared, None, values, None)
        self.call("cuCtxSynchronize")
