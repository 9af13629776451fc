use alloy::primitives::address;
use serde_json::json;
use undertone_rln::Fr;

use super::json::{request, result};
use super::*;
use crate::evm::chain::{BlockRef, EventKind, Recent};
use crate::registry::{Member, MemberIndex};

const CONTRACT: Contract = Contract {
    chain_id: 59_141,
    address: address!("b9cd878c90e49f797b4431fbf4fb333108cb90e6"),
};

const HASH: [u8; 32] = [0xab; 32];

fn log(block: u64, number: u64) -> serde_json::Value {
    let word = |number: u64| format!("{number:064x}");
    json!({
        "address": "0xb9cd878c90e49f797b4431fbf4fb333108cb90e6",
        "topics": ["0x09f1fd9af917aa77238ff2affbec28a0028188d74c0d4f974364cd383ce7090a"],
        "data": format!("0x{}{}{}", word(7), word(20), word(3)),
        "blockNumber": format!("{block:#x}"),
        "blockHash": format!("0x{}", "ab".repeat(32)),
        "transactionIndex": "0x2",
        "logIndex": format!("{number:#x}"),
        "removed": false,
    })
}

/// Reads a result as an endpoint's answer to a question.
fn answer(ask: &Ask, result: &serde_json::Value) -> Result<Answer, RpcError> {
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": result});
    check::answer(&CONTRACT, ask, 1, answer.to_string().as_bytes())
}

fn events(logs: serde_json::Value) -> Result<Answer, RpcError> {
    let ask = Ask::Events {
        from: 10,
        to: 20,
        roots: true,
    };
    answer(&ask, &logs)
}

fn fault(logs: serde_json::Value) -> AnswerFault {
    fault_of(events(logs))
}

fn fault_of(answer: Result<Answer, RpcError>) -> AnswerFault {
    match answer {
        Err(RpcError::InvalidAnswer { fault }) => fault,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_time_is_that_of_the_block_asked_for() {
    let ask = Ask::Time { number: 9 };
    assert_eq!(
        request(&CONTRACT, &ask),
        ("eth_getBlockByNumber", r#"["0x9",false]"#.to_owned())
    );
    let hash = format!("0x{}", "ab".repeat(32));
    let block = |number: &str| json!({ "number": number, "hash": hash, "parentHash": hash, "timestamp": "0x6553f100" });
    let read = |result: serde_json::Value| answer(&ask, &result);
    assert_eq!(read(block("0x9")), Ok(Answer::Time(1_700_000_000)));
    let refused = |result, fault| {
        assert_eq!(read(result), Err(RpcError::InvalidAnswer { fault }));
    };
    refused(block("0xa"), AnswerFault::NoBlock);
    refused(json!(null), AnswerFault::NoBlock);
    let mut timeless = block("0x9");
    timeless["timestamp"] = json!("soon");
    refused(timeless, AnswerFault::Shape);
}

/// Calls in the encoding of the reference, byte for byte.
#[test]
fn requests() {
    let at = BlockRef {
        number: 9,
        hash: HASH.into(),
    };
    let (method, parameters) = request(&CONTRACT, &Ask::Root { at });
    let expected = format!(
        r#"[{{"to":"0xb9cd878c90e49f797b4431fbf4fb333108cb90e6","data":"0xebf0c717"}},{{"blockHash":"0x{}","requireCanonical":true}}]"#,
        "ab".repeat(32)
    );
    assert_eq!((method, parameters), ("eth_call", expected));
    let (first, last) = (1, 2);
    let (_, parameters) = request(&CONTRACT, &Ask::Leaves { at, first, last });
    assert!(parameters.contains(&format!("0x9379f1b5{:064x}{:064x}", 1, 2)));
    let (method, parameters) = request(
        &CONTRACT,
        &Ask::Events {
            from: 10,
            to: 255,
            roots: false,
        },
    );
    assert_eq!(method, "eth_getLogs");
    assert!(parameters.contains(r#""fromBlock":"0xa","toBlock":"0xff""#));
    assert!(
        parameters.contains("09f1fd9af917aa77238ff2affbec28a0028188d74c0d4f974364cd383ce7090a")
    );
    assert!(
        !parameters.contains("db9f891ab8f2ac489678404eba9f461b43d50d2c6672200e0ce68c05b60efa54")
    );
}

#[test]
fn a_registration_as_the_reference_logs_it() {
    let Ok(Answer::Events(events)) = events(json!([log(12, 0)])) else {
        panic!("no events");
    };
    let [event] = events[..] else {
        panic!("{events:?}");
    };
    assert_eq!((event.block.number, event.transaction), (12, 2));
    assert_eq!(event.block.hash, HASH);
    let EventKind::Registered {
        commitment,
        limit,
        index,
    } = event.kind
    else {
        panic!("{event:?}");
    };
    assert_eq!((commitment, limit, index.get()), (Fr::from(7), 20, 3));
}

#[test]
fn logs_that_were_not_asked_for() {
    assert!(events(json!([])).is_ok());
    assert_eq!(fault(json!({})), AnswerFault::Shape);
    assert_eq!(fault(json!([log(9, 0)])), AnswerFault::OtherLog, "before");
    assert_eq!(fault(json!([log(21, 0)])), AnswerFault::OtherLog, "after");
    assert_eq!(fault(json!([log(12, 1), log(12, 0)])), AnswerFault::Order);
    assert_eq!(
        fault(json!([log(12, 1), log(12, 1)])),
        AnswerFault::Order,
        "twice"
    );
    let with = |name: &str, value: serde_json::Value| {
        let mut log = log(12, 0);
        log[name] = value;
        fault(json!([log]))
    };
    assert_eq!(with("removed", json!(true)), AnswerFault::OtherLog);
    assert_eq!(with("address", json!("0x00")), AnswerFault::OtherLog);
    assert_eq!(with("topics", json!([])), AnswerFault::OtherLog);
    assert_eq!(with("data", json!("0x")), AnswerFault::OtherLog);
    assert_eq!(with("blockHash", json!(null)), AnswerFault::Shape);
}

#[test]
fn answers_of_json_rpc() {
    let nonsense = |bytes: &[u8]| {
        let expected = RpcError::InvalidAnswer {
            fault: AnswerFault::Json,
        };
        assert_eq!(result::<Quantity>(1, bytes), Err(expected));
    };
    nonsense(b"<html>");
    nonsense(b"{}");
    nonsense(br#"{"jsonrpc":"2.0","id":2,"result":"0x1"}"#);
    let fine = result(1, br#"{"jsonrpc":"2.0","id":1,"result":"0x1"}"#);
    assert_eq!(fine, Ok(Some(Quantity(1))));
    let null = result::<Quantity>(1, br#"{"id":1,"result":null}"#);
    assert_eq!(null, Ok(None));
    let busy =
        br#"{"id":1,"result":null,"error":{"code":-32005,"message":"request limit reached"}}"#;
    assert_eq!(
        result::<Quantity>(1, busy),
        Err(RpcError::Busy { retry_after: None })
    );
    let long = br#"{"id":1,"error":{"code":-32005,"message":"more than 10000 results"}}"#;
    assert!(result::<Quantity>(1, long).unwrap_err().may_be_too_much());
}

#[test]
fn leaves_are_as_many_as_asked_for() {
    let at = BlockRef {
        number: 9,
        hash: HASH.into(),
    };
    let (first, last) = (4, 5);
    let ask = Ask::Leaves { at, first, last };
    let leaves_of = |numbers: &[u64]| {
        let words: String = numbers.iter().map(|n| format!("{n:064x}")).collect();
        answer(&ask, &json!(format!("0x{words}")))
    };
    let leaves = Answer::Leaves(vec![Fr::from(8), Fr::from(9)]);
    assert_eq!(leaves_of(&[32, 2, 8, 9]), Ok(leaves));
    assert!(leaves_of(&[32, 1, 8]).is_err());
    assert!(leaves_of(&[32, 3, 8, 9, 10]).is_err());
    assert!(leaves_of(&[]).is_err());
}

fn words(numbers: &[u64]) -> serde_json::Value {
    let words: String = numbers.iter().map(|n| format!("{n:064x}")).collect();
    json!(format!("0x{words}"))
}

const AT: BlockRef = BlockRef {
    number: 9,
    hash: alloy::primitives::B256::new(HASH),
};

/// The calls of light mode, with the selectors of the contract in use.
#[test]
fn requests_of_light_mode() {
    let parameters = |ask: &Ask| request(&CONTRACT, ask).1;
    let recent = parameters(&Ask::Recent { at: None });
    let expected =
        r#"[{"to":"0xb9cd878c90e49f797b4431fbf4fb333108cb90e6","data":"0xe63337c3"},"latest"]"#;
    assert_eq!(recent, expected);
    let recent = parameters(&Ask::Recent { at: Some(AT) });
    assert!(recent.contains(r#""requireCanonical":true"#));
    let index = MemberIndex::new(300).unwrap();
    let path = parameters(&Ask::Path { index, at: AT });
    assert!(path.contains(&format!(r#""0x00ffef23{:064x}""#, 300)));
    let commitment = Fr::from(258);
    let membership = parameters(&Ask::Membership { commitment, at: AT });
    assert!(membership.contains(&format!(r#""0x3a7592f0{:064x}""#, 258)));
}

#[test]
fn roots_are_asked_for_by_height_too() {
    let call = |height| request(&CONTRACT, &Ask::RootOf { height });
    let expected = |block| {
        let to = "0xb9cd878c90e49f797b4431fbf4fb333108cb90e6";
        let parameters = format!(r#"[{{"to":"{to}","data":"0xebf0c717"}},"{block}"]"#);
        ("eth_call", parameters)
    };
    assert_eq!(call(None), expected("latest"));
    assert_eq!(call(Some(26)), expected("0x1a"));
}

#[test]
fn recent_roots_come_newest_first_and_zeros_are_none() {
    let answer = |result| answer(&Ask::Recent { at: None }, &result);
    let roots = |numbers: &[u64], is_full| {
        let roots = numbers.iter().map(|n| Fr::from(*n)).collect();
        Ok(Answer::Recent(Recent { roots, is_full }))
    };
    assert_eq!(
        answer(words(&[5, 4, 3, 2, 1])),
        roots(&[1, 2, 3, 4, 5], true)
    );
    assert_eq!(answer(words(&[5, 4, 0, 0, 0])), roots(&[4, 5], false));
    assert_eq!(answer(words(&[0; 5])), roots(&[], false));
    assert_eq!(answer(words(&[5, 4, 4, 4, 3])), roots(&[3, 4, 5], true));
    for bad in [
        words(&[5, 0, 3, 2, 1]),
        words(&[0, 0, 0, 0, 1]),
        words(&[5, 4, 3, 2]),
        words(&[6, 5, 4, 3, 2, 1]),
        json!(null),
        json!(format!("0x{}", "ff".repeat(160))),
        json!(format!("0x{}", "00".repeat(159))),
    ] {
        let expected = RpcError::InvalidAnswer {
            fault: AnswerFault::Shape,
        };
        assert_eq!(answer(bad.clone()), Err(expected), "{bad}");
    }
    // The contract has no such function, but a fallback.
    assert_eq!(answer(json!("0x")), Ok(Answer::Refused));
}

#[test]
fn a_membership_has_the_leaf_of_its_commitment_and_limit() {
    let commitment = Fr::from(7);
    let ask = Ask::Membership { commitment, at: AT };
    let answer = |result: &serde_json::Value| answer(&ask, result);
    let leaf = |commitment: u64, limit| {
        crate::evm::abi::number(&undertone_rln::rate_commitment(commitment.into(), limit))
    };
    let with = |limit: u64, index: u64, leaf: alloy::primitives::U256| {
        json!(format!("0x{limit:064x}{index:064x}{leaf:064x}"))
    };
    let member = Member {
        index: MemberIndex::new(3).unwrap(),
        commitment,
        limit: 20,
    };
    assert_eq!(
        answer(&with(20, 3, leaf(7, 20))),
        Ok(Answer::Membership(Some(member)))
    );
    assert_eq!(answer(&words(&[0, 0, 0])), Ok(Answer::Membership(None)));
    for (bad, fault) in [
        (with(20, 3, leaf(8, 20)), AnswerFault::Leaf),
        (with(21, 3, leaf(7, 20)), AnswerFault::Leaf),
        (words(&[20, 3, 0]), AnswerFault::Leaf),
        (with(20, 1 << 20, leaf(7, 20)), AnswerFault::Shape),
        (with(1 << 32, 3, leaf(7, 20)), AnswerFault::Shape),
        (words(&[0, 0]), AnswerFault::Shape),
        (words(&[0, 0, 0, 0]), AnswerFault::Shape),
    ] {
        assert_eq!(
            answer(&bad),
            Err(RpcError::InvalidAnswer { fault }),
            "{bad}"
        );
    }
}

#[test]
fn a_path_has_twenty_siblings() {
    let index = MemberIndex::new(3).unwrap();
    let answer = |result| answer(&Ask::Path { index, at: AT }, &result);
    let numbers: Vec<u64> = (1..=21).collect();
    let siblings = Box::new(std::array::from_fn(|at| Fr::from(at as u64 + 1)));
    assert_eq!(answer(words(&numbers[..20])), Ok(Answer::Path(siblings)));
    assert!(answer(words(&numbers[..19])).is_err());
    assert!(answer(words(&numbers)).is_err());
}

#[test]
fn failed_endpoints_are_left_alone_for_longer_and_longer() {
    let urls = [
        "http://127.0.0.1:1".to_owned(),
        "http://127.0.0.1:2".to_owned(),
    ];
    let mut endpoints = Endpoints::new(&urls, CONTRACT, RpcLimits::default(), true).unwrap();
    let error = RpcError::Status { status: 500 };
    assert_eq!(endpoints.choose(Instant::now()), Ok(0));
    endpoints.blame(0, &error);
    assert_eq!(
        endpoints.choose(Instant::now()),
        Ok(1),
        "the next takes over"
    );
    endpoints.blame(1, &error);
    let wait = endpoints.choose(Instant::now()).unwrap_err();
    assert!(wait <= Duration::from_secs(1));
    for _ in 0..20 {
        endpoints.blame(0, &error);
        endpoints.blame(1, &error);
    }
    let wait = endpoints.choose(Instant::now()).unwrap_err();
    assert!(wait > Duration::from_secs(50) && wait <= Duration::from_secs(60));
    let later = Instant::now() + Duration::from_secs(61);
    assert_eq!(endpoints.choose(later), Ok(0), "the preferred one again");
}

#[test]
fn keys_in_urls_stay_out_of_names() {
    let urls = ["https://user:secret@host.example:8545/v3/key?x=secret".to_owned()];
    let endpoints = Endpoints::new(&urls, CONTRACT, RpcLimits::default(), true).unwrap();
    assert_eq!(endpoints.name(0), "https://host.example:8545");
    for bad in ["host:1", "ftp://host", "http://"] {
        assert!(Endpoints::new(&[bad.to_owned()], CONTRACT, RpcLimits::default(), true).is_err());
    }
}

#[test]
fn an_address_without_a_contract_is_named() {
    let at = AT;
    for ask in [
        Ask::Root { at },
        Ask::RootOf { height: None },
        Ask::Count { at },
    ] {
        let error = answer(&ask, &json!("0x")).unwrap_err().to_string();
        assert!(
            error.contains(&format!(
                "no membership contract at {} on chain 59141; check the address",
                CONTRACT.address
            )),
            "{error}"
        );
    }
}

/// A tree of values would take a hundred times the memory of such a text.
#[test]
fn what_has_another_type_ends_the_reading() {
    let ask = Ask::Events {
        from: 1,
        to: 2,
        roots: true,
    };
    for result in [
        json!([[], [], []]),
        json!([{"topics": [1, 2, 3]}]),
        json!(7),
    ] {
        assert_eq!(
            fault_of(answer(&ask, &result)),
            AnswerFault::Shape,
            "{result}"
        );
    }
    let deep = format!(r#"{{"id":1,"result":{}"#, "[".repeat(100_000));
    assert!(check::answer(&CONTRACT, &ask, 1, deep.as_bytes()).is_err());
}

#[test]
fn small_answers_have_small_bounds() {
    let bytes = |ask: &Ask| json::max_answer_bytes(ask);
    assert_eq!(bytes(&Ask::Root { at: AT }), Some(65_536));
    assert_eq!(bytes(&Ask::Head), Some(1 << 20));
    let leaves = |first, last| {
        bytes(&Ask::Leaves {
            at: AT,
            first,
            last,
        })
    };
    assert_eq!(leaves(0, 9), Some(65_536 + 640));
    assert_eq!(leaves(0, u32::MAX), Some(65_536 + (64 << 32)));
    let events = Ask::Events {
        from: 1,
        to: 2,
        roots: true,
    };
    assert_eq!(bytes(&events), None);

    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let urls = [format!("http://{}", listener.local_addr().unwrap())];
    std::thread::spawn(move || {
        use std::io::{Read, Write};
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = Vec::new();
        while !request.ends_with(b"}") {
            let mut piece = [0; 1024];
            let length = stream.read(&mut piece).unwrap();
            request.extend_from_slice(&piece[..length]);
        }
        assert!(String::from_utf8_lossy(&request).contains("eth_chainId"));
        let head = "HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n";
        let _ = stream.write_all(format!("{head}{}", " ".repeat(100_000)).as_bytes());
        let _ = stream.read(&mut [0]);
    });
    let mut endpoints = Endpoints::new(&urls, CONTRACT, RpcLimits::default(), true).unwrap();
    let error = endpoints.ask(0, &Ask::Head).unwrap_err();
    assert_eq!(error, RpcError::TooLong { max_bytes: 65_536 });
}
