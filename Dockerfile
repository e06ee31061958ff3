# Builds the program, and keeps nothing of the toolchain in the image.
FROM rust:1.95-bookworm AS build
WORKDIR /src
COPY . .
# What profilers read of the program stays outside the image.
RUN CARGO_PROFILE_DIST_STRIP=debuginfo cargo build --profile dist --locked -p webloom

FROM debian:bookworm-slim
# The certificates are the system's, so that security updates of the base image reach them: no version is pinned.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 10001 --home-dir /crawl --shell /usr/sbin/nologin webloom \
 && install -d -o webloom /crawl
COPY --from=build /src/target/dist/webloom /usr/local/bin/webloom
USER 10001
# Crawl directories lie here: ./crawls/HOST without --dir.
WORKDIR /crawl
VOLUME /crawl
ENTRYPOINT ["webloom"]
CMD ["--help"]
