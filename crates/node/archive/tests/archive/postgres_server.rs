//! Private PostgreSQL server for tests: in a temporary directory, on a free port of this machine, and gone with the
//! process that started it, however that process ends.

use std::io::Write;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

/// Environment variable that lets tests pass without PostgreSQL.
pub(crate) const SKIP: &str = "UNDERTONE_SKIP_POSTGRES";

/// Owner of every database.
pub(crate) const USER: &str = "waku";

/// The owner's password.
pub(crate) const PASSWORD: &str = "s3cret";

/// Program that the server lives in: it ends the server and removes its files when its input ends.
const KEEPER: &str = r#"
trap '' INT HUP TERM
cd "$DIRECTORY" || exit 1
start() { "$BIN/postgres" -D "$DIRECTORY/data" -p "$PORT" -k "$DIRECTORY" -c listen_addresses=127.0.0.1 \
  -c fsync="$FSYNC" -c max_connections=60 >>log 2>&1 & pid=$!; }
stop() { kill -"$1" "$pid" 2>/dev/null && wait "$pid"; }
signal() { kill -"$1" "$pid" $(cat "/proc/$pid/task/$pid/children"); }
printf %s "$PASSWORD" >password
"$BIN/initdb" -N -D "$DIRECTORY/data" -U "$OWNER" --pwfile=password -A scram-sha-256 -E UTF8 --locale=C \
  >log 2>&1 && start
while read -r order; do
  case $order in
    start) start ;;
    stop) stop INT ;;
    crash) stop QUIT ;;
    freeze) signal STOP ;;
    thaw) signal CONT ;;
  esac
  echo "$order" >done
done
signal CONT
stop INT
rm -rf "$DIRECTORY"
"#;

/// Running server.
pub(crate) struct PostgresServer {
    directory: PathBuf,
    binaries: PathBuf,
    port: u16,
    // Closing its input, at the latest when this process ends, ends the server.
    input: ChildStdin,
    _keeper: Child,
}

impl PostgresServer {
    /// Starts a server. `durable` servers wait for the disk, as real ones do; others are faster.
    ///
    /// Returns `None` only if PostgreSQL is not installed and [`SKIP`] is set.
    pub(crate) fn start(durable: bool) -> Option<Self> {
        let Some(binaries) = binaries() else {
            if std::env::var_os(SKIP).is_some() {
                return None;
            }
            panic!("PostgreSQL is not installed: `apt-get install postgresql`, or set {SKIP}=1");
        };
        let port = free_port();
        let name = format!("undertone-postgres-{}-{port}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        std::fs::create_dir(&directory).unwrap();
        let mut command = unprivileged(&directory);
        command
            .args(["sh", "-c", KEEPER])
            .env("BIN", &binaries)
            .env("DIRECTORY", &directory)
            .env("PORT", port.to_string())
            .env("OWNER", USER)
            .env("PASSWORD", PASSWORD)
            .env("FSYNC", if durable { "on" } else { "off" })
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut keeper = command.spawn().expect("`sh`, and `setpriv` if run as root");
        let input = keeper.stdin.take().expect("input is piped");
        let server = Self {
            directory,
            binaries,
            port,
            input,
            _keeper: keeper,
        };
        server.wait_until_ready();
        Some(server)
    }

    /// Address of a database.
    pub(crate) fn url(&self, database: &str) -> String {
        format!(
            "postgres://{USER}:{PASSWORD}@127.0.0.1:{}/{database}",
            self.port
        )
    }

    /// Makes a database, and returns its address.
    pub(crate) fn create_database(&self, name: &str) -> String {
        self.sql("postgres", &format!("CREATE DATABASE {name}"));
        self.url(name)
    }

    /// Runs a statement as the owner, and returns what it prints.
    pub(crate) fn sql(&self, database: &str, statement: &str) -> String {
        let output = Command::new(self.binaries.join("psql"))
            .args(["-h", "127.0.0.1", "-p", &self.port.to_string(), "-U", USER])
            .args(["-d", database, "-v", "ON_ERROR_STOP=1", "-qAtc", statement])
            .env("PGPASSWORD", PASSWORD)
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{statement}: {error}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Starts the server again.
    pub(crate) fn start_again(&mut self) {
        self.order("start");
        self.wait_until_ready();
    }

    /// Stops the server; its files stay.
    pub(crate) fn stop(&mut self) {
        self.order("stop");
    }

    /// Ends the server without letting it finish anything; its files stay.
    pub(crate) fn crash(&mut self) {
        self.order("crash");
    }

    /// Stops all of the server's processes where they are (Linux).
    pub(crate) fn freeze(&mut self) {
        self.order("freeze");
    }

    /// Lets the processes of a frozen server go on.
    pub(crate) fn thaw(&mut self) {
        self.order("thaw");
    }

    fn order(&mut self, order: &str) {
        let done = self.directory.join("done");
        let _ = std::fs::remove_file(&done);
        writeln!(self.input, "{order}").unwrap();
        self.wait_for(order, || {
            std::fs::read_to_string(&done).is_ok_and(|text| text.trim() == order)
        });
    }

    fn wait_until_ready(&self) {
        self.wait_for("start", || {
            let mut ready = Command::new(self.binaries.join("pg_isready"));
            ready.args(["-q", "-h", "127.0.0.1", "-p", &self.port.to_string()]);
            ready.status().is_ok_and(|status| status.success())
        });
    }

    fn wait_for(&self, what: &str, done: impl Fn() -> bool) {
        let began = Instant::now();
        while !done() {
            if began.elapsed() > Duration::from_secs(60) {
                let log = std::fs::read_to_string(self.directory.join("log")).unwrap_or_default();
                panic!("PostgreSQL did not {what}:\n{log}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Whether there are programs to start a server from.
pub(crate) fn is_installed() -> bool {
    binaries().is_some()
}

/// Directory of the newest installed server's programs.
fn binaries() -> Option<PathBuf> {
    let mut found: Vec<(u32, PathBuf)> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let version = entry.file_name().to_str()?.parse().ok()?;
            Some((version, entry.path().join("bin")))
        })
        .filter(|(_, path)| path.join("initdb").exists())
        .collect();
    found.sort();
    let in_path = std::env::var_os("PATH").and_then(|path| {
        let mut directories = std::env::split_paths(&path);
        directories.find(|path| path.join("initdb").exists() && path.join("postgres").exists())
    });
    found.pop().map(|(_, path)| path).or(in_path)
}

fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap().port()
}

/// Command that runs its arguments as a user that PostgreSQL accepts, which root is not; gives that user the
/// directory.
fn unprivileged(directory: &Path) -> Command {
    let output = Command::new("id").arg("-u").output().unwrap();
    if output.stdout.trim_ascii() != b"0" {
        return Command::new("env");
    }
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let has = users.lines().any(|line| line.starts_with("postgres:"));
    let user = if has { "postgres" } else { "nobody" };
    let given = Command::new("chown").arg(user).arg(directory).status();
    assert!(given.unwrap().success());
    let mut command = Command::new("setpriv");
    command.args(["--reuid", user, "--clear-groups"]).arg("--");
    command
}
