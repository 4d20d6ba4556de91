# The command and the Python package, with the viewer, in a container. The build needs Debian's or Ubuntu's archive and PyPI.
#
#   docker build -t stereopsis .
#   docker run --rm -v "$PWD:/data" stereopsis match left.png right.png -o disparity.pfm
#   docker run --rm -p 8080:8080 -v "$PWD:/data" stereopsis view left.png right.png --host 0.0.0.0 --port 8080
#
# With CUDA kernels, for one compute capability (90 is 9.0, of an H100) or for all, which takes longer to compile. Only the driver is needed
# at run time, which NVIDIA's container toolkit provides:
#
#   docker build -t stereopsis-cuda --build-arg BASE=nvidia/cuda:12.8.1-devel-ubuntu24.04 --build-arg RUN_BASE=ubuntu:24.04 --build-arg CUDA=90 .
#   docker run --rm --gpus all -v "$PWD:/data" stereopsis-cuda match left.png right.png -o disparity.pfm
#
# BASE      image in which the package is compiled; it has nvcc for CUDA kernels
# RUN_BASE  image in which it runs, of the same distribution
# SIMD      native: for processors like this one; all: for all x86-64 processors
# CUDA      GPUs for which kernels are compiled if BASE has nvcc
# EXTRAS    optional parts of the package, as in pip install 'stereopsis[view,tune]'
ARG BASE=debian:bookworm-slim
ARG RUN_BASE=debian:bookworm-slim

FROM ${BASE} AS build
ARG SIMD=native
ARG CUDA=all
RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends ca-certificates python3-dev python3-venv
COPY . /src
WORKDIR /src
RUN STEREOPSIS_WHEEL_CUDA=${CUDA} ./dev wheel ${SIMD}

FROM ${RUN_BASE}
ARG EXTRAS=opencv,view,tune
RUN apt-get update && \
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends ca-certificates ocl-icd-libopencl1 python3-venv && \
    rm -rf /var/lib/apt/lists/*
COPY --from=build /src/dist/ /tmp/dist/
RUN python3 -m venv /opt/stereopsis && \
    /opt/stereopsis/bin/pip install --no-index --no-deps --find-links /tmp/dist stereopsis && \
    /opt/stereopsis/bin/pip install --no-cache-dir "stereopsis[${EXTRAS}]" && \
    rm -rf /tmp/dist
ENV PATH=/opt/stereopsis/bin:$PATH NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
WORKDIR /data
ENTRYPOINT ["stereopsis"]
CMD ["--help"]
