//! An Internet of network namespaces: hosts on one bridge, some of them behind a router.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

/// Rules of a router, by its kind of translation.
const RULES: &str = include_str!("router.nft");

/// What stands before a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wall {
    /// Nothing: it has a public address.
    None,
    /// A router that keeps a connection's port.
    Cone,
    /// A router that chooses a new port for each destination.
    Symmetric,
    /// A router that opens ports by UPnP.
    Upnp,
    /// A router that opens ports by NAT-PMP.
    Pmp,
}

impl Wall {
    /// Flags of a node behind it.
    pub(crate) fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Upnp => &["--nat=upnp"],
            Self::Pmp => &["--nat=pmp"],
            Self::None | Self::Cone | Self::Symmetric => &[],
        }
    }

    fn has_daemon(self) -> bool {
        matches!(self, Self::Upnp | Self::Pmp)
    }

    fn translation(self) -> &'static str {
        match self {
            Self::Symmetric => "masquerade random,fully-random",
            _ => "masquerade",
        }
    }
}

/// Hosts and routers; they are gone when it is dropped.
pub(crate) struct Internet {
    prefix: String,
    folder: tempfile::TempDir,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    namespaces: Vec<String>,
    daemons: Vec<(String, Child)>,
    hosts: u8,
}

/// A host: the name of its namespace.
pub(crate) struct Host {
    pub(crate) name: String,
    pub(crate) namespace: String,
}

impl Internet {
    pub(crate) fn new() -> Self {
        let internet = Self {
            prefix: format!("nat{}", std::process::id()),
            folder: tempfile::tempdir().expect("a temporary folder can be made"),
            state: Mutex::default(),
        };
        let middle = internet.namespace("internet");
        ip(&["-n", &middle, "link", "add", "bridge", "type", "bridge"]);
        ip(&["-n", &middle, "link", "set", "bridge", "up"]);
        internet
    }

    fn namespace(&self, name: &str) -> String {
        let namespace = format!("{}-{name}", self.prefix);
        ip(&["netns", "add", &namespace]);
        self.state
            .lock()
            .expect("no test panics in it")
            .namespaces
            .push(namespace.clone());
        ip(&["-n", &namespace, "link", "set", "lo", "up"]);
        namespace
    }

    /// Makes a host and what stands before it. Each has a network of its own, so that no limit on peers of one network
    /// is met.
    pub(crate) fn host(&self, name: &str, wall: Wall) -> Host {
        let number = {
            let mut state = self.state.lock().expect("no test panics in it");
            state.hosts += 1;
            state.hosts
        };
        let own = self.namespace(name);
        let public = match wall {
            Wall::None => own.clone(),
            _ => self.namespace(&format!("{name}-router")),
        };
        let (middle, link) = (format!("{}-internet", self.prefix), format!("host{number}"));
        ip(&[
            "link", "add", &link, "netns", &middle, "type", "veth", "peer", "name", "wan", "netns",
            &public,
        ]);
        ip(&[
            "-n", &middle, "link", "set", &link, "master", "bridge", "up",
        ]);
        ip(&[
            "-n",
            &public,
            "addr",
            "add",
            &format!("45.{number}.0.2/8"),
            "dev",
            "wan",
        ]);
        ip(&["-n", &public, "link", "set", "wan", "up"]);
        if wall != Wall::None {
            self.wall(name, wall, &own, &public);
        }
        Host {
            name: name.to_owned(),
            namespace: own,
        }
    }

    fn wall(&self, name: &str, wall: Wall, own: &str, router: &str) {
        ip(&[
            "link", "add", "lan", "netns", router, "type", "veth", "peer", "name", "eth0", "netns",
            own,
        ]);
        ip(&["-n", router, "addr", "add", "192.168.1.1/24", "dev", "lan"]);
        ip(&["-n", router, "link", "set", "lan", "up"]);
        ip(&["-n", own, "addr", "add", "192.168.1.2/24", "dev", "eth0"]);
        ip(&["-n", own, "link", "set", "eth0", "up"]);
        ip(&["-n", own, "route", "add", "default", "via", "192.168.1.1"]);
        run(within(router, "sysctl").args(["-qw", "net.ipv4.ip_forward=1"]));
        let rules = self.folder.path().join(format!("{name}.nft"));
        let text = RULES.replace("TRANSLATION", wall.translation());
        fs::write(&rules, text).expect("the folder is there");
        run(within(router, "nft").arg("--file").arg(&rules));
        if wall.has_daemon() {
            self.daemon(name, wall, router);
        }
    }

    /// Starts a daemon that opens ports on the router.
    fn daemon(&self, name: &str, wall: Wall, router: &str) {
        let answers = |protocol| if wall == protocol { "yes" } else { "no" };
        let leases: PathBuf = self.folder.path().join(format!("{name}.leases"));
        let config = self.folder.path().join(format!("{name}.conf"));
        let text = format!(
            "ext_ifname=wan\nlistening_ip=lan\nhttp_port=5000\nenable_upnp={}\nenable_natpmp={}\nsecure_mode=yes\n\
             upnp_forward_chain=opened\nupnp_nat_chain=opened_nat\nupnp_nat_postrouting_chain=opened_back\n\
             upnp_table_name=filter\nupnp_nat_table_name=nat\n\
             lease_file={}\nuuid=00000000-0000-0000-0000-000000000001\nallow 1024-65535 0.0.0.0/0 1024-65535\n",
            answers(Wall::Upnp),
            answers(Wall::Pmp),
            leases.display()
        );
        fs::write(&config, text).expect("the folder is there");
        let pid = self.folder.path().join(format!("{name}.pid"));
        let log =
            fs::File::create(self.folder.path().join(format!("{name}.log"))).expect("it is there");
        let daemon = within(router, "miniupnpd")
            .args(["-d", "-f"])
            .arg(&config)
            .arg("-P")
            .arg(&pid)
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("Debian's package miniupnpd-nftables is installed");
        let mut state = self.state.lock().expect("no test panics in it");
        state.daemons.push((router.to_owned(), daemon));
    }

    /// Ports that the routers lead to their hosts, as their rules say.
    pub(crate) fn open_ports(&self) -> String {
        let state = self.state.lock().expect("no test panics in it");
        let rules = state.daemons.iter().map(|(router, _)| {
            let output = within(router, "nft").args(["list", "ruleset"]).output();
            String::from_utf8_lossy(&output.expect("nft runs").stdout).into_owned()
        });
        let rules: Vec<String> = rules.collect();
        let lines = rules.iter().flat_map(|rules| rules.lines());
        lines
            .filter(|line| line.contains("dnat"))
            .collect::<Vec<_>>()
            .join("; ")
    }
}

impl Drop for Internet {
    fn drop(&mut self) {
        let Ok(state) = self.state.get_mut() else {
            return;
        };
        for (_, daemon) in &mut state.daemons {
            // It may have ended by itself.
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
        for namespace in &state.namespaces {
            let _ = Command::new("ip")
                .args(["netns", "delete", namespace])
                .status();
        }
    }
}

/// A command that runs in a namespace.
pub(crate) fn within(namespace: &str, program: &str) -> Command {
    let mut command = Command::new("ip");
    command.args(["netns", "exec", namespace, program]);
    command
}

fn ip(arguments: &[&str]) {
    run(Command::new("ip").args(arguments));
}

fn run(command: &mut Command) {
    let output = command.output().expect("iproute2 is installed");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
}
