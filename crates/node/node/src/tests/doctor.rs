use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::net::UdpSocket;

use super::*;
use crate::config::Sources;

fn config(folder: &std::path::Path, flags: &[(&str, &str)]) -> NodeConfig {
    let folder = folder.display().to_string();
    let common = [
        ("data-dir", folder.as_str()),
        ("listen-address", "127.0.0.1"),
        ("tcp-port", "0"),
        ("rest-port", "0"),
        ("rln", "false"),
    ];
    let flags = common.iter().chain(flags);
    let flags = flags.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let sources = Sources {
        flags: flags.collect(),
        ..Sources::default()
    };
    NodeConfig::load(&sources).expect("the test's flags are valid")
}

async fn found(flags: &[(&str, &str)], ntp: Option<NtpServer>) -> Vec<Diagnosis> {
    let folder = tempfile::tempdir().expect("a folder");
    examine(&config(folder.path(), flags), ntp).await
}

fn of<'a>(findings: &'a [Diagnosis], subject: &str) -> &'a Diagnosis {
    let finding = findings.iter().find(|finding| finding.subject == subject);
    finding.unwrap_or_else(|| panic!("nothing about {subject}: {findings:?}"))
}

#[tokio::test]
async fn a_machine_that_is_in_order_has_nothing_bad() {
    let findings = found(&[], None).await;
    for finding in &findings {
        assert_ne!(finding.verdict, CheckOutcome::Bad, "{finding:?}");
    }
    assert_eq!(of(&findings, "data-dir").verdict, CheckOutcome::Good);
    assert_eq!(of(&findings, "tcp-port").verdict, CheckOutcome::Good);
    assert_eq!(of(&findings, "clock").verdict, CheckOutcome::NotChecked);
}

#[tokio::test]
async fn a_port_in_use_is_bad() {
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let port = taken.local_addr().expect("it is bound").port().to_string();
    let findings = found(&[("tcp-port", &port)], None).await;
    let finding = of(&findings, "tcp-port");
    assert_eq!(finding.verdict, CheckOutcome::Bad);
    assert!(finding.says.contains(&port), "{finding:?}");
    assert!(finding.remedy.is_some());
}

#[tokio::test]
async fn a_data_folder_that_cannot_be_written_is_bad_and_a_new_one_is_not_left_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    std::fs::write(&file, "in the way").expect("a file");
    let findings = examine(&config(&file.join("data"), &[]), None).await;
    assert_eq!(of(&findings, "data-dir").verdict, CheckOutcome::Bad);

    let new = folder.path().join("new");
    let findings = examine(&config(&new, &[]), None).await;
    assert_eq!(of(&findings, "data-dir").verdict, CheckOutcome::Good);
    assert!(!new.exists());
}

#[tokio::test]
async fn peers_are_tried_and_silent_ones_named() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let open = listener.local_addr().expect("it is bound").port();
    let closed = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let shut = closed.local_addr().expect("it is bound").port();
    drop(closed);
    let peers = format!("/ip4/127.0.0.1/tcp/{open},/ip4/127.0.0.1/tcp/{shut}");
    let findings = found(&[("static-peers", &peers)], None).await;
    let peers: Vec<_> = findings
        .iter()
        .filter(|finding| finding.subject == "static-peers")
        .map(|finding| finding.verdict)
        .collect();
    assert_eq!(peers, [CheckOutcome::Good, CheckOutcome::Warning]);
    let reached = of(&findings, "static-peers");
    assert!(reached.says.ends_with("over IPv4"), "{reached:?}");
}

/// A time server whose clock is `ahead` of the system's, or behind it.
async fn time_server(ahead_s: i64) -> NtpServer {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))
        .await
        .expect("a free port");
    let address = socket.local_addr().expect("it is bound");
    tokio::spawn(async move {
        let mut question = [0; 48];
        while let Ok((_, from)) = socket.recv_from(&mut question).await {
            let now = SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .expect("after 1970");
            let seconds = now.as_secs().saturating_add_signed(ahead_s) + 2_208_988_800;
            let fraction = (u64::from(now.subsec_nanos()) << 32) / 1_000_000_000;
            let mut answer = [0; 48];
            answer[0] = 0x24;
            answer[40..].copy_from_slice(&(seconds << 32 | fraction).to_be_bytes());
            socket.send_to(&answer, from).await.expect("it is sent");
        }
    });
    NtpServer(address.to_string())
}

#[tokio::test]
async fn a_clock_is_judged_by_what_peers_tolerate() {
    for (ahead_s, verdict) in [
        (0, CheckOutcome::Good),
        (-3, CheckOutcome::Warning),
        (60, CheckOutcome::Bad),
    ] {
        let findings = found(&[], Some(time_server(ahead_s).await)).await;
        let clock = of(&findings, "clock");
        assert_eq!(clock.verdict, verdict, "{clock:?}");
        let way = match ahead_s {
            60 => "behind",
            _ => "ahead of",
        };
        assert!(ahead_s == 0 || clock.says.contains(way), "{clock:?}");
    }
    let silent = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))
        .await
        .expect("a free port");
    let address = silent.local_addr().expect("it is bound").to_string();
    let findings = found(&[], Some(NtpServer(address))).await;
    assert_eq!(of(&findings, "clock").verdict, CheckOutcome::NotChecked);
}

#[tokio::test]
async fn records_of_other_clusters_and_nonsense_are_named() {
    const OTHER: &str = "enr:-IS4QHCYrYZbAKWCBRlAy5zzaDZXJBGkcnh4MHcBFZntXNFrdvJjX04jRzjzCBOonrkTfj499SZuOh8R33Ls8RRcy5wBgmlkgnY0gmlwhH8AAAGJc2VjcDI1NmsxoQPKY0yuDUmstAHYpMa2_oxVtw0RW_QAdpzBQA8yWM0xOIN1ZHCCdl8";
    let records = format!("{OTHER},enr:-nonsense");
    let flags = [
        ("discv5-bootstrap-node", records.as_str()),
        ("discv5-udp-port", "0"),
    ];
    let findings = found(&flags, None).await;
    let records: Vec<_> = findings
        .iter()
        .filter(|finding| finding.subject == "discv5-bootstrap-node")
        .collect();
    assert_eq!(records.len(), 2);
    assert!(
        records[0]
            .says
            .ends_with("is of no cluster that its record names"),
        "{:?}",
        records[0]
    );
    assert!(records[1].says.contains("not a signed node record"));
    assert_eq!(network::shown_cluster(Some(16)), "cluster 16");
}

#[test]
fn the_families_that_lead_into_the_internet_are_named() {
    let [v4, v6]: [IpAddr; 2] = ["192.0.2.7", "2001:db8::7"].map(|ip| ip.parse().unwrap());
    let any = ["0.0.0.0", "::"].map(|ip| ip.parse().unwrap());
    let says = |listen: &[IpAddr], v4, v6| {
        let judged = network::judged_families(listen, v4, v6);
        judged.map(|diagnosis| (diagnosis.verdict, diagnosis.says))
    };
    let good = |says: &str| Some((CheckOutcome::Good, says.to_owned()));
    assert_eq!(
        says(&any, Some(v4), Some(v6)),
        good("the Internet is reached by IPv4 from 192.0.2.7 and IPv6 from 2001:db8::7")
    );
    assert_eq!(
        says(&any, Some(v4), None),
        good("the Internet is reached by IPv4 from 192.0.2.7, not by IPv6")
    );
    assert_eq!(
        says(&any[1..], None, Some(v6)),
        good("the Internet is reached by IPv6 from 2001:db8::7"),
        "a family on which the node does not listen is not missed"
    );
    let (verdict, _) = says(&any, None, None).unwrap();
    assert_eq!(verdict, CheckOutcome::Warning);
    let loopback = [Ipv4Addr::LOCALHOST.into()];
    assert_eq!(says(&loopback, Some(v4), Some(v6)), None, "it asks nobody");
}
