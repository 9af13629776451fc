//! An endpoint in front of a good one that does what it is told, badly.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Honest,
    /// Takes the request and never answers.
    Hang,
    /// An HTTP status.
    ChainStatus(u16),
    /// No JSON.
    Garbage,
    /// More bytes than allowed.
    Endless,
    /// No logs at all.
    NoLogs,
    /// Every other log is left out.
    HalfTheLogs,
    /// Logs of another contract.
    ForeignLogs,
    /// Logs in the wrong order.
    LogsBackwards,
    /// The newest block is this many older.
    Old(u64),
    /// `null` for blocks.
    NoBlocks,
    /// Another chain's number.
    Chain(u64),
    /// Refuses logs of more blocks than this.
    ShortRanges(u64),
    /// A root of its own.
    WrongRoot,
    /// Five roots of its own.
    WrongRoots,
    /// The path of another leaf.
    WrongPath,
}

pub(crate) struct Proxy {
    pub(crate) url: String,
    mode: Arc<Mutex<Mode>>,
    asked: Arc<Mutex<u64>>,
}

impl Proxy {
    /// Serves until the test ends.
    pub(crate) fn start(target: &str, mode: Mode) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let mode = Arc::new(Mutex::new(mode));
        let asked = Arc::new(Mutex::new(0));
        let (shared, target) = ((Arc::clone(&mode), Arc::clone(&asked)), target.to_owned());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (mode, asked) = shared.clone();
                let target = target.clone();
                thread::spawn(move || serve(stream, &target, &mode, &asked));
            }
        });
        Self { url, mode, asked }
    }

    pub(crate) fn set(&self, mode: Mode) {
        *self.mode.lock().unwrap() = mode;
    }

    /// Requests so far.
    pub(crate) fn asked(&self) -> u64 {
        *self.asked.lock().unwrap()
    }
}

fn serve(stream: TcpStream, target: &str, mode: &Mutex<Mode>, asked: &Mutex<u64>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    while let Some(body) = request(&mut reader) {
        *asked.lock().unwrap() += 1;
        let mode = mode.lock().unwrap().clone();
        let (status, answer) = match mode {
            Mode::Hang => {
                // Until the other side gives up.
                let _ = reader.read(&mut [0]);
                return;
            }
            Mode::ChainStatus(status) => (status, String::from("no")),
            Mode::Garbage => (200, String::from("<html>welcome</html>")),
            Mode::Endless => (200, " ".repeat(40 << 20)),
            mode => (200, answer(&body, target, &mode)),
        };
        let head = format!(
            "HTTP/1.1 {status} -\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            answer.len()
        );
        if stream.write_all(head.as_bytes()).is_err()
            || stream.write_all(answer.as_bytes()).is_err()
        {
            return;
        }
    }
}

fn request(reader: &mut BufReader<TcpStream>) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

fn answer(request: &Value, target: &str, mode: &Mode) -> String {
    let method = request["method"].as_str().unwrap_or_default().to_owned();
    let mut request = request.clone();
    if let (Mode::ShortRanges(most), "eth_getLogs") = (mode, &*method) {
        let number = |name: &str| {
            let text = request["params"][0][name].as_str().unwrap();
            u64::from_str_radix(&text[2..], 16).unwrap()
        };
        if number("toBlock") - number("fromBlock") + 1 > *most {
            let error =
                json!({"code": -32005, "message": "query returned more than 10000 results"});
            return json!({"jsonrpc": "2.0", "id": request["id"], "error": error}).to_string();
        }
    }
    if let (Mode::Old(blocks), "eth_getBlockByNumber", Some("latest")) =
        (mode, &*method, request["params"][0].as_str())
    {
        let newest = json!({"jsonrpc": "2.0", "id": 0, "method": "eth_blockNumber", "params": []});
        let newest = forward(&newest, target)["result"]
            .as_str()
            .unwrap()
            .to_owned();
        let newest = u64::from_str_radix(&newest[2..], 16).unwrap();
        request["params"][0] = json!(format!("{:#x}", newest.saturating_sub(*blocks)));
    }
    let mut answer = forward(&request, target);
    let result = &mut answer["result"];
    match (mode, &*method) {
        (Mode::NoLogs, "eth_getLogs") => *result = json!([]),
        (Mode::NoBlocks, "eth_getBlockByNumber") => *result = Value::Null,
        (Mode::Chain(id), "eth_chainId") => *result = json!(format!("{id:#x}")),
        (Mode::WrongRoot, "eth_call") => *result = json!(format!("0x{:064x}", 5)),
        (Mode::WrongRoots, "eth_call") if calls(&request, "e63337c3") => {
            let words: String = (1..=5).map(|root| format!("{root:064x}")).collect();
            *result = json!(format!("0x{words}"));
        }
        (Mode::WrongPath, "eth_call") if calls(&request, "00ffef23") => {
            let siblings = &result.as_str().unwrap()[66..];
            *result = json!(format!("0x{:064x}{siblings}", 5));
        }
        (Mode::HalfTheLogs, "eth_getLogs") => {
            let logs = result
                .as_array()
                .unwrap()
                .iter()
                .step_by(2)
                .cloned()
                .collect();
            *result = Value::Array(logs);
        }
        (Mode::ForeignLogs, "eth_getLogs") => {
            for log in result.as_array_mut().unwrap() {
                log["address"] = json!("0x00000000000000000000000000000000000000aa");
            }
        }
        (Mode::LogsBackwards, "eth_getLogs") => result.as_array_mut().unwrap().reverse(),
        _ => {}
    }
    answer.to_string()
}

/// Whether a call is of the function with this selector.
fn calls(request: &Value, selector: &str) -> bool {
    let data = request["params"][0]["data"].as_str();
    data.is_some_and(|data| data[2..].starts_with(selector))
}

fn forward(request: &Value, target: &str) -> Value {
    let mut response = ureq::post(target)
        .header("content-type", "application/json")
        .send(request.to_string())
        .unwrap();
    let text = response
        .body_mut()
        .with_config()
        .limit(64 << 20)
        .read_to_string();
    serde_json::from_str(&text.unwrap()).unwrap()
}
