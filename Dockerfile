# gpuvcc without Rust, Python or a GPU:
#     docker build --tag gpuvcc .
#     docker run --rm --volume "$PWD:/work" gpuvcc kernel.ptx --block 256
FROM rust:1-bookworm AS build
RUN apt-get update && apt-get install --yes --no-install-recommends python3-pip && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN tools/fetch-libz3 && GPUVCC_RELOCATABLE=1 cargo build --release --locked --bin gpuvcc && tools/licences >crates.txt

FROM debian:bookworm-slim
RUN apt-get update && apt-get install --yes --no-install-recommends libstdc++6 && rm -rf /var/lib/apt/lists/*
# The program looks for libz3 beside itself and in ../lib.
COPY --from=build /source/target/release/gpuvcc /usr/local/bin/
COPY --from=build /source/.libz3/lib/libz3.so.5.3 /usr/local/lib/
COPY --from=build /source/LICENSE-APACHE /source/LICENSE-MIT /source/licences/Z3.txt /source/crates.txt /usr/local/share/doc/gpuvcc/
WORKDIR /work
ENTRYPOINT ["gpuvcc"]
CMD ["--help"]
