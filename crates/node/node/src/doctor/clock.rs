//! Check of the clock against a time server (SNTP, RFC 4330).

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tokio::net::UdpSocket;
use tokio::time::timeout;

use super::diagnosis::{CheckOutcome, Diagnosis};

/// Time server to compare the clock with, `HOST:PORT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NtpServer(pub String);

/// Time limit for the server's answer.
const ANSWER: Duration = Duration::from_secs(3);

/// Seconds from 1900, the NTP epoch, to 1970.
const SECONDS_TO_1970: u64 = 2_208_988_800;

/// Deviation that gets messages rejected: peers reject timestamps that are off by 20 s, less the transit
/// time.
const DEVIATION_BAD_MS: i128 = 10_000;

/// Deviation that deserves attention.
const DEVIATION_WARNING_MS: i128 = 1_000;

const SUBJECT: &str = "clock";
const REMEDY: &str = "let the system set its clock (systemd-timesyncd, chrony)";

pub(super) async fn examine(server: Option<NtpServer>) -> Diagnosis {
    let Some(NtpServer(server)) = server else {
        return Diagnosis::other(
            SUBJECT,
            CheckOutcome::NotChecked,
            "no time server was named",
            "name one with --ntp-server",
        );
    };
    match timeout(ANSWER, ahead_ms(&server)).await {
        Ok(Ok(ahead_ms)) => judge(&server, ahead_ms),
        Ok(Err(error)) => unanswered(&server, &error.to_string()),
        Err(_) => unanswered(&server, "no answer within 3 s"),
    }
}

fn unanswered(server: &str, reason: &str) -> Diagnosis {
    Diagnosis::other(
        SUBJECT,
        CheckOutcome::NotChecked,
        format!("{server} cannot be asked: {reason}"),
        "name a server that can be reached with --ntp-server",
    )
}

fn judge(server: &str, ahead_ms: i128) -> Diagnosis {
    let way = match ahead_ms {
        0.. => "ahead of",
        _ => "behind",
    };
    let deviation = ahead_ms.abs();
    let says = format!("{deviation} ms {way} {server}");
    match deviation {
        DEVIATION_BAD_MS.. => Diagnosis::other(SUBJECT, CheckOutcome::Bad, says, REMEDY),
        DEVIATION_WARNING_MS.. => Diagnosis::other(SUBJECT, CheckOutcome::Warning, says, REMEDY),
        _ => Diagnosis::good(SUBJECT, says),
    }
}

/// Returns how far this machine's clock is ahead of the server's, milliseconds.
async fn ahead_ms(server: &str) -> std::io::Result<i128> {
    let mut addresses = tokio::net::lookup_host(server).await?;
    let unknown = || std::io::Error::other("the name has no address");
    let address = addresses.next().ok_or_else(unknown)?;
    let local = match address.is_ipv4() {
        true => "0.0.0.0:0",
        false => "[::]:0",
    };
    let socket = UdpSocket::bind(local).await?;
    socket.connect(address).await?;
    // Version 4, client.
    let mut question = [0; 48];
    question[0] = 0x23;
    let asked = Instant::now();
    socket.send(&question).await?;
    let mut answer = [0; 48];
    let length = socket.recv(&mut answer).await?;
    let round_trip = asked.elapsed();
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.unwrap_or_default();
    let sent = answer.get(40..48).filter(|_| length >= 48);
    let sent: Option<[u8; 8]> = sent.and_then(|bytes| bytes.try_into().ok());
    let theirs = sent.and_then(|bytes| since_1970(u64::from_be_bytes(bytes)));
    let theirs = theirs.ok_or_else(|| std::io::Error::other("the answer is none of NTP"))?;
    let expected = theirs + round_trip / 2;
    let ms = |duration: Duration| i128::try_from(duration.as_millis()).unwrap_or(i128::MAX);
    Ok(ms(now) - ms(expected))
}

/// Converts an NTP timestamp to the time since 1970. It has 32 bits each of seconds since 1900 and of their
/// fraction.
fn since_1970(timestamp: u64) -> Option<Duration> {
    let seconds = (timestamp >> 32).checked_sub(SECONDS_TO_1970)?;
    let nanoseconds = ((timestamp & 0xffff_ffff) * 1_000_000_000) >> 32;
    Some(Duration::from_secs(seconds) + Duration::from_nanos(nanoseconds))
}
