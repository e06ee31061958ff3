//! What `deploy/` has for Prometheus and Grafana, tried with a real Prometheus.

use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use rustix::process::Signal;
use serde_json::Value;
use webloom_tests::webloom::Webloom;

use crate::{
    Folder, chain,
    monitored::{free, get, until},
    serve,
};

fn deploy() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy")
}

/// Prometheus, until it is dropped.
struct Prometheus {
    child: Child,
    port: SocketAddr,
}

impl Prometheus {
    /// With the files of `deploy/`, which take effect at once here, for what listens at a port.
    fn start(folder: &Path, target: SocketAddr) -> Self {
        let read = |name: &str| fs::read_to_string(deploy().join(name)).expect("it is there");
        let config = read("prometheus.yml")
            .replace("scrape_interval: 30s", "scrape_interval: 1s\n  scrape_timeout: 1s\n  evaluation_interval: 1s")
            .replace("/run/secrets/webloom", &folder.join("token").display().to_string())
            .replace("webloom:9464", &target.to_string());
        let alerts = read("alerts.yml")
            .lines()
            .filter(|line| !line.trim_start().starts_with("for: "))
            .fold(String::new(), |text, line| text + line + "\n");
        for (name, text) in [("prometheus.yml", &*config), ("alerts.yml", &alerts), ("token", "s3cr3t")] {
            fs::write(folder.join(name), text).expect("a file can be written");
        }
        let port = free();
        let child = Command::new("prometheus")
            .arg(format!("--config.file={}", folder.join("prometheus.yml").display()))
            .arg(format!("--storage.tsdb.path={}", folder.join("metrics").display()))
            .arg(format!("--web.listen-address={port}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("Prometheus starts");
        Self { child, port }
    }

    /// What a query gives.
    fn ask(&self, query: &str) -> Value {
        let encoded = query.bytes().fold(String::new(), |text, byte| text + &format!("%{byte:02X}"));
        let answer = get(
            self.port,
            &format!("/api/v1/query?query={encoded}"),
            "connection: close\r\naccept-encoding: identity\r\n",
        );
        let json: Value = serde_json::from_str(&answer.text).unwrap_or_else(|error| panic!("{error}: {answer:?}"));
        assert_eq!(json["status"], "success", "{query}: {json}");
        json["data"]["result"].clone()
    }

    fn has(&self, query: &str) -> bool {
        self.ask(query).as_array().is_some_and(|rows| !rows.is_empty())
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn alerts_fire_and_every_query_of_the_dashboard_has_an_answer() {
    let (server, folder) = (serve(chain(60)), Folder::new());
    let port = free();
    let arguments = ["--every", "1s", "--delay", "300ms", "--listen", &port.to_string(), "-d"].map(str::to_owned);
    let watch = Webloom::new(["watch", "-q", &server.url("/")]).args(arguments).args([folder.crawl()]);
    let running = watch.env("WEBLOOM_LISTEN_TOKEN", "s3cr3t").patience(Duration::from_mins(3)).spawn();
    let prometheus = Prometheus::start(folder.0.path(), port);
    until("it listens", || std::net::TcpStream::connect(prometheus.port).is_ok());
    until("a round that takes too long is late", || {
        get(prometheus.port, "/-/ready", "connection: close\r\n").status == 200
            && prometheus.has("ALERTS{alertname=\"WebloomLate\",alertstate=\"firing\"}")
    });
    let dashboard: Value = serde_json::from_str(&fs::read_to_string(deploy().join("grafana.json")).unwrap()).unwrap();
    let targets = dashboard["panels"].as_array().unwrap().iter().flat_map(|panel| panel["targets"].as_array().unwrap());
    let queries: Vec<_> = targets.map(|target| target["expr"].as_str().unwrap()).collect();
    assert!(queries.len() > 15);
    // There is none while nothing has gone wrong, no sweep was made, and the first sequence runs.
    let may_be_empty =
        ["webloom_next_", "webloom_request_errors_", "webloom_swept_", "webloom_freshness_", "webloom_changes"];
    for query in queries {
        let asked = query.replace("$crawl", ".*").replace("$__rate_interval", "30s");
        if may_be_empty.iter().any(|name| query.contains(name)) {
            prometheus.ask(&asked);
        } else {
            // A rate has one after two looks.
            until(&asked, || prometheus.has(&asked));
        }
    }
    running.signal(Signal::STOP);
    until("a process that does not answer is down", || {
        prometheus.has("ALERTS{alertname=\"WebloomDown\",alertstate=\"firing\"}")
    });
    running.signal(Signal::CONT);
    running.signal(Signal::TERM);
    running.wait().expect(143);
}

#[test]
fn each_alert_fires_when_it_should_and_not_before() {
    for arguments in [["check", "rules", "alerts.yml"], ["test", "rules", "alerts-test.yml"]] {
        let output = Command::new("promtool").args(arguments).current_dir(deploy()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    let [alerts, cases] =
        ["alerts.yml", "alerts-test.yml"].map(|name| fs::read_to_string(deploy().join(name)).unwrap());
    for name in alerts.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")) {
        assert!(cases.contains(&format!("alertname: {name}\n        exp_alerts")), "{name} has no case");
    }
}
