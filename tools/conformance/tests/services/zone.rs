//! A signed list of nodes (EIP-1459), and the servers that answer for it: DNS over UDP, and DNS over HTTP as browsers ask.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use data_encoding::BASE32_NOPAD;
use k256::ecdsa::signature::hazmat::PrehashSigner as _;
use k256::ecdsa::{Signature, SigningKey};
use serde_json::json;
use sha3::{Digest as _, Keccak256};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream, UdpSocket};

/// Bytes of a hash that name an entry.
const HASH_BYTES: usize = 16;

/// Texts of the list by their names in lower case.
pub(crate) struct Zone {
    texts: BTreeMap<String, String>,
    /// Address of the list, `enrtree://KEY@DOMAIN`.
    pub(crate) url: String,
}

impl Zone {
    /// Returns a list whose texts somebody has signed.
    pub(crate) fn new(url: &str, texts: BTreeMap<String, String>) -> Self {
        let texts = texts.into_iter();
        Self {
            texts: texts
                .map(|(name, text)| (name.to_ascii_lowercase(), text))
                .collect(),
            url: url.to_owned(),
        }
    }

    /// Signs a list of these records that stands at a name.
    pub(crate) fn signed(records: &[String], domain: &str) -> Self {
        let signer = SigningKey::from_slice(&[9; 32]).unwrap();
        let mut texts = BTreeMap::new();
        let mut add = |text: String| {
            let name = BASE32_NOPAD.encode(&Keccak256::digest(&text)[..HASH_BYTES]);
            texts.insert(format!("{name}.{domain}"), text);
            name
        };
        let leaves: Vec<String> = records.iter().cloned().map(&mut add).collect();
        let nodes = add(format!("enrtree-branch:{}", leaves.join(",")));
        let links = add("enrtree-branch:".to_owned());
        let root = format!("enrtree-root:v1 e={nodes} l={links} seq=1");
        let signature: Signature = signer.sign_prehash(&Keccak256::digest(&root)).unwrap();
        // The last byte is for recovery of the key, which nobody needs.
        let signature = [&signature.to_bytes()[..], &[0]].concat();
        let signature = URL_SAFE_NO_PAD.encode(signature);
        texts.insert(domain.to_owned(), format!("{root} sig={signature}"));
        let key = signer.verifying_key().to_sec1_point(true);
        let key = BASE32_NOPAD.encode(key.as_bytes());
        Self::new(&format!("enrtree://{key}@{domain}"), texts)
    }

    fn text(&self, name: &str) -> Option<&String> {
        self.texts.get(&name.to_ascii_lowercase())
    }

    /// Starts a name server on UDP that ends with the runtime.
    pub(crate) async fn serve_udp(self: &Arc<Self>) -> SocketAddr {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = socket.local_addr().unwrap();
        let zone = Arc::clone(self);
        tokio::spawn(async move {
            let mut question = [0; 1_500];
            while let Ok((len, from)) = socket.recv_from(&mut question).await {
                if let Some(answer) = zone.answer(&question[..len]) {
                    socket.send_to(&answer, from).await.unwrap();
                }
            }
        });
        address
    }

    /// The answer to a question for a text, in parts of at most 255 bytes.
    fn answer(&self, question: &[u8]) -> Option<Vec<u8>> {
        let (mut at, mut labels) = (12, Vec::new());
        while *question.get(at)? != 0 {
            let end = at + 1 + usize::from(question[at]);
            labels.push(String::from_utf8_lossy(question.get(at + 1..end)?).into_owned());
            at = end;
        }
        let asked = question.get(12..at + 5)?;
        let text = self.text(&labels.join("."));
        let code = if text.is_some() { 0 } else { 3 };
        let count = u8::from(text.is_some());
        let mut answer = question[..2].to_vec();
        answer.extend([0x84, code, 0, 1, 0, count, 0, 0, 0, 0]);
        answer.extend(asked);
        if let Some(text) = text {
            let parts = text.as_bytes().chunks(255);
            let parts = parts.map(|part| [&[part.len() as u8], part].concat());
            let parts: Vec<u8> = parts.flatten().collect();
            // The name of the question, TXT, IN, a minute to live.
            answer.extend([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 60]);
            answer.extend((parts.len() as u16).to_be_bytes());
            answer.extend(parts);
        }
        Some(answer)
    }

    /// Starts a server of DNS over HTTP that ends with the runtime; returns its address.
    pub(crate) async fn serve_http(self: &Arc<Self>) -> String {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let zone = Arc::clone(self);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let zone = Arc::clone(&zone);
                tokio::spawn(async move { zone.answer_http(stream).await });
            }
        });
        format!("http://{address}/dns-query")
    }

    async fn answer_http(&self, stream: TcpStream) -> std::io::Result<()> {
        let (read, mut write) = stream.into_split();
        // The head of a request of any client is far shorter.
        let mut lines = BufReader::new(read.take(16 << 10)).lines();
        let first = lines.next_line().await?.unwrap_or_default();
        while lines
            .next_line()
            .await?
            .is_some_and(|line| !line.is_empty())
        {}
        let name = first.split_once("?name=").and_then(|(_, rest)| {
            let (name, _) = rest.split_once("&type=TXT ")?;
            Some(name)
        });
        let text = name.and_then(|name| self.text(name));
        let body = match text {
            Some(text) => {
                let data = format!("\"{text}\"");
                let answer = json!({"name": name, "type": 16, "TTL": 60, "data": data});
                json!({"Status": 0, "Answer": [answer]})
            }
            None => json!({"Status": 3}),
        };
        let body = body.to_string();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/dns-json\r\ncontent-length: {}\r\n\
             connection: close\r\n\r\n",
            body.len()
        );
        write.write_all(head.as_bytes()).await?;
        write.write_all(body.as_bytes()).await
    }
}
