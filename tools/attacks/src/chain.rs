//! Simulated chain with a membership contract, derived from a registry file, with one block per member. It has two
//! endpoints, the first of which can be made to lie.

use std::io::{self, Write as _};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;
use undertone_membership::{Member, SqliteRegistry, tree_of};
use undertone_rln::{Fr, fr_to_le};

use super::{HostileError, Tasks};

/// Address of the membership contract.
const CONTRACT: &str = "0xc9cd878c90e49f797b4431fbf4fb333108cb90e7";
/// Chain id.
const CHAIN_ID: u64 = 1337;
/// Block of the contract's deployment, the last one without a member.
const DEPLOYED: u64 = 10;
/// Unix time of block 0, seconds.
const GENESIS_S: u64 = 1_700_000_000;
/// Topics of the events of a registration and of a new root.
const REGISTERED: &str = "0x09f1fd9af917aa77238ff2affbec28a0028188d74c0d4f974364cd383ce7090a";
const ROOT_STORED: &str = "0xdb9f891ab8f2ac489678404eba9f461b43d50d2c6672200e0ce68c05b60efa54";
/// Selectors of `root()`, `nextFreeIndex()` and `deployedBlockNumber()`.
const ROOT: &str = "0xebf0c717";
const COUNT: &str = "0xd8826870";
const DEPLOYED_BLOCK: &str = "0x4add651e";
/// Addresses of the two endpoints.
const ENDPOINTS: [Ipv4Addr; 2] = [Ipv4Addr::new(127, 0, 30, 1), Ipv4Addr::new(127, 0, 30, 2)];
/// Count of numbers in a compressed answer; a reader that keeps them all uses gigabytes.
const NUMBERS: usize = 24_500_000;
/// Time between two bytes of a slow answer.
const DRIP: Duration = Duration::from_secs(1);
/// Longest request that is read, bytes.
const REQUEST_BYTES_MAX: usize = 64 << 10;
/// Maximum number of connections to an endpoint.
const CONNECTIONS_MAX: u32 = 10_000;

/// Chain with its two endpoints, which end when it is dropped.
pub struct Chain {
    urls: [String; 2],
    blocks: Arc<Blocks>,
    lies: Arc<Lies>,
    _tasks: Tasks,
}

/// Lies of the first endpoint.
#[derive(Debug, Default)]
struct Lies {
    are_on: AtomicBool,
    told: AtomicUsize,
    /// Compressed answer with many numbers.
    bomb: Mutex<Arc<Vec<u8>>>,
}

/// Answer of an endpoint.
enum EndpointAnswer {
    Honest,
    /// Compressed text that expands to 49 MB.
    Bomb(Arc<Vec<u8>>),
    /// Honest answer, sent one byte at a time.
    Slow,
}

/// Blocks of the chain with their changes.
struct Blocks {
    registry: SqliteRegistry,
    members: Mutex<Vec<(Member, Fr)>>,
}

impl Chain {
    /// Starts both endpoints of a chain with the members of a registry, including those registered later.
    pub async fn start(registry: SqliteRegistry) -> Result<Self, HostileError> {
        let blocks = Arc::new(Blocks {
            registry,
            members: Mutex::default(),
        });
        let (lies, mut tasks) = (Arc::<Lies>::default(), Tasks::default());
        let mut urls = [String::new(), String::new()];
        for ((url, ip), lies) in urls
            .iter_mut()
            .zip(ENDPOINTS)
            .zip([Some(Arc::clone(&lies)), None])
        {
            let failed = HostileError::io("no port is free for an endpoint of a chain");
            let listening = async {
                let listener = TcpListener::bind((ip, 0)).await?;
                let at = listener.local_addr()?;
                Ok((listener, at))
            };
            let (listener, at) = listening.await.map_err(failed)?;
            *url = format!("http://{at}");
            tasks.spawn(serve(listener, Arc::clone(&blocks), lies));
        }
        Ok(Self {
            urls,
            blocks,
            lies,
            _tasks: tasks,
        })
    }

    /// Returns the flags of a node that follows the chain.
    #[must_use]
    pub fn flags(&self) -> Vec<String> {
        vec![
            format!("--rln-eth-rpc={}", self.urls.join(",")),
            format!("--rln-eth-contract={CONTRACT}"),
            format!("--rln-eth-chain-id={CHAIN_ID}"),
        ]
    }

    /// Returns the height of the newest block.
    #[must_use]
    pub fn newest(&self) -> u64 {
        self.blocks.newest()
    }

    /// Makes the first endpoint lie from now on.
    pub fn lie(&self) -> Result<(), HostileError> {
        let bomb = bomb().map_err(HostileError::io("cannot compress an answer"))?;
        *self.lies.bomb.lock() = Arc::new(bomb);
        self.lies.are_on.store(true, Ordering::Release);
        Ok(())
    }

    /// Returns the number of lies told.
    #[must_use]
    pub fn told(&self) -> usize {
        self.lies.told.load(Ordering::Acquire)
    }
}

impl Lies {
    /// Chooses the kind of answer to a request. One in three requests for the newest block is answered honestly, so
    /// that requests with longer answers follow.
    fn answer(&self, method: &str) -> EndpointAnswer {
        let honest = method == "eth_chainId" || !self.are_on.load(Ordering::Acquire);
        if honest {
            return EndpointAnswer::Honest;
        }
        let told = self.told.fetch_add(1, Ordering::AcqRel);
        match (told % 3, method) {
            (2, "eth_getBlockByNumber") => EndpointAnswer::Honest,
            (1, _) => EndpointAnswer::Slow,
            _ => EndpointAnswer::Bomb(Arc::clone(&self.bomb.lock())),
        }
    }
}

/// Returns an answer with many numbers, compressed by a factor of a thousand.
fn bomb() -> io::Result<Vec<u8>> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(br#"{"jsonrpc":"2.0","result":["#)?;
    let numbers = b"0,".repeat(NUMBERS / 1_000);
    for _ in 0..1_000 {
        packed.write_all(&numbers)?;
    }
    packed.write_all(br#"0],"id":1}"#)?;
    packed.finish()
}

/// Accepts connections to an endpoint.
async fn serve(listener: TcpListener, blocks: Arc<Blocks>, lies: Option<Arc<Lies>>) {
    let mut connections = Tasks::default();
    for _ in 0..CONNECTIONS_MAX {
        let Ok((stream, _)) = listener.accept().await else {
            return;
        };
        let (blocks, lies) = (Arc::clone(&blocks), lies.clone());
        connections.spawn(async move {
            // A client that disconnects is not an error.
            let _ = answer_all(stream, &blocks, lies.as_deref()).await;
        });
    }
}

/// Answers the requests of one connection one after another, until the client disconnects.
async fn answer_all(stream: TcpStream, blocks: &Blocks, lies: Option<&Lies>) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let request = read(&mut stream).await?;
        let method = request["method"].as_str().unwrap_or_default();
        let how = lies.map_or(EndpointAnswer::Honest, |lies| lies.answer(method));
        let is_packed = matches!(how, EndpointAnswer::Bomb(_));
        let body = match &how {
            EndpointAnswer::Bomb(bomb) => bomb.to_vec(),
            EndpointAnswer::Honest | EndpointAnswer::Slow => {
                let mut answer = blocks.answer(method, &request["params"]);
                answer["jsonrpc"] = json!("2.0");
                answer["id"] = request["id"].clone();
                answer.to_string().into_bytes()
            }
        };
        let encoding = if is_packed {
            "content-encoding: gzip\r\n"
        } else {
            ""
        };
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n{encoding}content-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).await?;
        match how {
            EndpointAnswer::Slow => {
                for byte in body {
                    stream.write_all(&[byte]).await?;
                    sleep(DRIP).await;
                }
            }
            EndpointAnswer::Honest | EndpointAnswer::Bomb(_) => stream.write_all(&body).await?,
        }
    }
}

/// Reads one HTTP request and returns its body.
async fn read(stream: &mut BufReader<TcpStream>) -> io::Result<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let line = line.trim().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; REQUEST_BYTES_MAX.min(length)];
    stream.read_exact(&mut body).await?;
    Ok(serde_json::from_slice(&body)?)
}

impl Blocks {
    /// Returns the `result` or `error` of an answer.
    fn answer(&self, method: &str, params: &Value) -> Value {
        let newest = self.newest();
        let found = match method {
            "eth_chainId" => Some(json!(format!("{CHAIN_ID:#x}"))),
            "eth_getBlockByNumber" => Some(match height(&params[0], newest) {
                Some(number) if number <= newest => block(number),
                _ => Value::Null,
            }),
            "eth_getLogs" => self.logs(&params[0], newest),
            "eth_call" => self.called(params, newest),
            _ => None,
        };
        match found {
            Some(result) => json!({ "result": result }),
            None => json!({"error": {"code": 3, "message": "execution reverted"}}),
        }
    }

    /// Reads new registrations, and returns the height of the newest block.
    fn newest(&self) -> u64 {
        let mut known = self.members.lock();
        // If the registry is being written, it is read at the next request.
        let members = self.registry.members().unwrap_or_default();
        for count in known.len()..members.len() {
            let root = tree_of(&members[..=count]).root();
            known.push((members[count], root));
        }
        DEPLOYED + known.len() as u64
    }

    fn logs(&self, filter: &Value, newest: u64) -> Option<Value> {
        let from = height(&filter["fromBlock"], newest)?;
        let to = height(&filter["toBlock"], newest)?;
        let known = self.members.lock();
        let logs = (DEPLOYED + 1..).zip(known.iter());
        let logs = logs.filter(|(number, _)| (from..=to).contains(number));
        let logs = logs.flat_map(|(number, (member, root))| {
            let limit = Fr::from(u64::from(member.limit));
            let index = Fr::from(u64::from(member.index.get()));
            let member = [member.commitment, limit, index].map(|part| word(&part));
            [
                log(number, 0, REGISTERED, &member.concat()),
                log(number, 1, ROOT_STORED, &word(root)),
            ]
        });
        Some(Value::Array(logs.collect()))
    }

    fn called(&self, params: &Value, newest: u64) -> Option<Value> {
        let number = height(&params[1], newest)?;
        let count = number.saturating_sub(DEPLOYED);
        let element = match params[0]["data"].as_str()?.get(..ROOT.len())? {
            ROOT => {
                let known = self.members.lock();
                known.get(usize::try_from(count).ok()?.checked_sub(1)?)?.1
            }
            COUNT => Fr::from(count),
            DEPLOYED_BLOCK => Fr::from(DEPLOYED),
            _ => return None,
        };
        Some(json!(format!("0x{}", word(&element))))
    }
}

/// Returns the height that a request names by number, tag or hash.
fn height(block: &Value, newest: u64) -> Option<u64> {
    let text = match block {
        Value::Object(named) => {
            let hash = named.get("blockHash")?.as_str()?;
            return u64::from_str_radix(hash.get(hash.len().checked_sub(16)?..)?, 16).ok();
        }
        block => block.as_str()?,
    };
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => Some(newest),
    }
}

/// Returns the hash of the block at a height, which ends in that height.
fn hash(number: u64) -> String {
    format!("0x{:048x}{number:016x}", 0xc4a1)
}

fn block(number: u64) -> Value {
    json!({
        "number": format!("{number:#x}"),
        "hash": hash(number),
        "parentHash": hash(number.saturating_sub(1)),
        "timestamp": format!("{:#x}", GENESIS_S + 12 * number),
    })
}

fn log(number: u64, index: u64, topic: &str, data: &str) -> Value {
    json!({
        "address": CONTRACT,
        "topics": [topic],
        "data": format!("0x{data}"),
        "blockNumber": format!("{number:#x}"),
        "blockHash": hash(number),
        "transactionIndex": "0x0",
        "logIndex": format!("{index:#x}"),
        "removed": false,
    })
}

/// Returns an element as a 32-byte ABI word, in hexadecimal notation.
fn word(element: &Fr) -> String {
    let mut bytes = fr_to_le(element);
    bytes.reverse();
    hex::encode(bytes)
}
