# Builds a program that needs nothing of the system, and keeps that and certificates in the image.
FROM rust:1.95-bookworm AS build
WORKDIR /src
# Static: the image has no libraries. The target is named, so that macros and build scripts are built as usual.
ENV CARGO_PROFILE_DIST_STRIP=debuginfo RUSTFLAGS="-C target-feature=+crt-static"

# First the dependencies, with members that are empty: this layer stays as long as the dependencies do.
COPY Cargo.toml Cargo.lock ./
COPY urlcache/Cargo.toml urlcache/
COPY urlcache/evaluation/Cargo.toml urlcache/evaluation/
COPY crawler/Cargo.toml crawler/
COPY crawler/practice/Cargo.toml crawler/practice/
COPY tests/Cargo.toml tests/
RUN mkdir -p urlcache/src urlcache/evaluation/cli urlcache/evaluation/benches \
      crawler/src crawler/benches crawler/practice/src tests/src \
 && touch urlcache/src/lib.rs crawler/src/lib.rs crawler/practice/src/lib.rs tests/src/lib.rs \
 && for program in crawler/src/main.rs crawler/benches/extract.rs urlcache/evaluation/benches/ratios.rs urlcache/evaluation/cli/main.rs; do \
      echo 'fn main() {}' > "$program"; done \
 && cargo build --profile dist --locked -p webloom --target "$(rustc --print host-tuple)"

COPY . .
ARG REVISION=
# The empty members are newer than the sources.
RUN find urlcache crawler tests -name '*.rs' -exec touch {} + \
 && target="$(rustc --print host-tuple)" \
 && WEBLOOM_COMMIT="$REVISION" cargo build --profile dist --locked -p webloom --target "$target" \
 && install -D "target/$target/dist/webloom" /image/usr/local/bin/webloom \
 && install -D -m 644 /etc/ssl/certs/ca-certificates.crt /image/etc/ssl/certs/ca-certificates.crt \
 && install -d -m 1777 /image/crawl /image/tmp

FROM scratch
ARG REVISION=unknown
LABEL org.opencontainers.image.title="webloom" \
      org.opencontainers.image.description="A web crawler that covers an area completely, under a loss budget" \
      org.opencontainers.image.licenses="MIT OR Apache-2.0" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=build /image/ /
# A number: the image knows no names. Any other works too.
USER 10001:10001
# Crawl directories lie here: ./crawls/HOST without --dir. What is spilled to disk goes there as well, for the rest may be read-only.
WORKDIR /crawl
VOLUME /crawl
# The management port is for those within the container, until WEBLOOM_LISTEN gives another address or none.
ENV PATH=/usr/local/bin TMPDIR=/crawl WEBLOOM_PROFILE=container WEBLOOM_LISTEN=127.0.0.1:9464
# Whether the watched crawls of the volume are on time.
HEALTHCHECK --interval=1m --timeout=10s --start-period=5m CMD ["webloom", "healthcheck"]
ENTRYPOINT ["webloom"]
CMD ["--help"]
