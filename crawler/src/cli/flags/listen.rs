//! `--listen`: of the process, not of a crawl.

use clap::Args;

/// Where somebody may look on.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub struct ListenFlags {
    /// Answer /healthz, /readyz and /metrics at this address [default: off]
    ///
    /// Such as 127.0.0.1:9464. At an address that other machines reach, `WEBLOOM_LISTEN_TOKEN` must hold a secret, which clients send
    /// as a bearer token; /healthz and /readyz need none.
    #[arg(long, value_name = "ADDR:PORT", env = "WEBLOOM_LISTEN", hide_env_values = true)]
    pub listen: Option<String>,
}
