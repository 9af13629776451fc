//! Router made in a test: it answers searches by UPnP, serves its description and its ports, and NAT-PMP.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UdpSocket};

const DESCRIPTION: &str = "<root><device><serviceList><service>\
    <serviceType>urn:schemas-upnp-org:service:WANIPConnection:1</serviceType>\
    <SCPDURL>/scpd.xml</SCPDURL><controlURL>/ctl</controlURL></service></serviceList></device></root>";

#[derive(Debug)]
struct State {
    ip: [u8; 4],
    /// Open ports: protocol and public number, and the number at the host.
    open: BTreeMap<(String, u16), u16>,
    is_permanent_only: bool,
    is_endless: bool,
}

/// Router made in a test.
pub(super) struct FakeRouter {
    pub(super) ssdp: SocketAddr,
    pub(super) natpmp: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl FakeRouter {
    pub(super) async fn start() -> Self {
        let state = Arc::new(Mutex::new(State {
            ip: [203, 0, 113, 7],
            open: BTreeMap::new(),
            is_permanent_only: false,
            is_endless: false,
        }));
        let (ssdp, natpmp) = (udp().await, udp().await);
        let http = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let router = Self {
            ssdp: ssdp.local_addr().unwrap(),
            natpmp: natpmp.local_addr().unwrap(),
            state: state.clone(),
        };
        tokio::spawn(answer_searches(ssdp, http.local_addr().unwrap()));
        tokio::spawn(answer_natpmp(natpmp, state.clone()));
        tokio::spawn(serve(http, state));
        router
    }

    pub(super) fn open(&self) -> Vec<String> {
        let state = self.state.lock();
        let lines = state.open.iter();
        lines
            .map(|((kind, external), local)| format!("{kind} {external} to {local}"))
            .collect()
    }

    pub(super) fn occupy(&self, kind: &str, external: u16) {
        self.state
            .lock()
            .open
            .insert((kind.to_owned(), external), 1);
    }

    pub(super) fn permanent_only(&self) {
        self.state.lock().is_permanent_only = true;
    }

    pub(super) fn answer_without_end(&self) {
        self.state.lock().is_endless = true;
    }

    pub(super) fn move_to(&self, ip: [u8; 4]) {
        self.state.lock().ip = ip;
    }
}

async fn udp() -> UdpSocket {
    UdpSocket::bind("127.0.0.1:0").await.unwrap()
}

async fn answer_searches(socket: UdpSocket, http: SocketAddr) {
    let mut buffer = [0; 2048];
    while let Ok((len, from)) = socket.recv_from(&mut buffer).await {
        assert!(buffer[..len].starts_with(b"M-SEARCH * HTTP/1.1\r\n"));
        // Another host's location is passed over, and so is what is no answer at all.
        for location in [
            "http://192.0.2.1:9/x".to_owned(),
            format!("http://{http}/root.xml"),
        ] {
            let answer = format!("HTTP/1.1 200 OK\r\nLOCATION: {location}\r\n\r\n");
            socket.send_to(answer.as_bytes(), from).await.unwrap();
        }
    }
}

async fn answer_natpmp(socket: UdpSocket, state: Arc<Mutex<State>>) {
    let mut buffer = [0; 64];
    while let Ok((len, from)) = socket.recv_from(&mut buffer).await {
        let answer = natpmp_answer(&buffer[..len], &mut state.lock());
        socket.send_to(&answer, from).await.unwrap();
    }
}

fn natpmp_answer(request: &[u8], state: &mut State) -> Vec<u8> {
    let head = |code: u8| vec![0, 128 + code, 0, 0, 0, 0, 0, 9];
    match request {
        [0, 0] => [head(0), state.ip.to_vec()].concat(),
        [0, code, _, _, i0, i1, e0, e1, lease @ ..] => {
            let kind = if *code == 1 { "UDP" } else { "TCP" }.to_owned();
            let internal = u16::from_be_bytes([*i0, *i1]);
            let external = u16::from_be_bytes([*e0, *e1]);
            if lease == [0; 4] {
                let of_port =
                    |(known, _): &(String, u16), local: u16| *known == kind && local == internal;
                state.open.retain(|key, local| !of_port(key, *local));
            } else {
                state.open.insert((kind, external), internal);
            }
            [head(*code), vec![*i0, *i1, *e0, *e1], lease.to_vec()].concat()
        }
        other => panic!("no request of NAT-PMP: {other:?}"),
    }
}

async fn serve(listener: TcpListener, state: Arc<Mutex<State>>) {
    while let Ok((stream, _)) = listener.accept().await {
        // A client that has read enough closes the connection.
        let _ = answer(stream, &state).await;
    }
}

async fn answer(mut stream: TcpStream, state: &Mutex<State>) -> std::io::Result<()> {
    let mut request = Vec::new();
    loop {
        stream.read_buf(&mut request).await?;
        let text = String::from_utf8_lossy(&request);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let len = head
            .lines()
            .find_map(|l| l.strip_prefix("Content-Length: "));
        if body.len() >= len.map_or(0, |len| len.parse().unwrap()) {
            break;
        }
    }
    if state.lock().is_endless {
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await?;
        loop {
            stream.write_all(&[b' '; 4096]).await?;
        }
    }
    let (status, body) = http_answer(&String::from_utf8_lossy(&request), &mut state.lock());
    let len = body.len();
    let answer = format!("HTTP/1.1 {status}\r\nContent-Length: {len}\r\n\r\n{body}");
    stream.write_all(answer.as_bytes()).await
}

fn http_answer(request: &str, state: &mut State) -> (&'static str, String) {
    if request.starts_with("GET /root.xml ") {
        return ("200 OK", DESCRIPTION.to_owned());
    }
    assert!(request.starts_with("POST /ctl "), "{request}");
    let value = |name: &str| {
        let (_, after) = request.split_once(&format!("<{name}>")).expect(name);
        after.split_once("</").expect(name).0.to_owned()
    };
    let refusal = |code: u16| {
        let body =
            format!("<s:Fault><UPnPError><errorCode>{code}</errorCode></UPnPError></s:Fault>");
        ("500 Internal Server Error", body)
    };
    if request.contains("#GetExternalIPAddress\"") {
        let ip = std::net::Ipv4Addr::from(state.ip);
        let body = format!("<NewExternalIPAddress>{ip}</NewExternalIPAddress>");
        return ("200 OK", body);
    }
    let key = (
        value("NewProtocol"),
        value("NewExternalPort").parse().unwrap(),
    );
    if request.contains("#DeletePortMapping\"") {
        return match state.open.remove(&key) {
            Some(_) => ("200 OK", String::new()),
            None => refusal(714),
        };
    }
    let internal = value("NewInternalPort").parse().unwrap();
    assert_eq!(value("NewInternalClient"), "127.0.0.1");
    if state.is_permanent_only && value("NewLeaseDuration") != "0" {
        return refusal(725);
    }
    if state.open.get(&key).is_some_and(|known| *known != internal) {
        return refusal(718);
    }
    state.open.insert(key, internal);
    ("200 OK", String::new())
}
