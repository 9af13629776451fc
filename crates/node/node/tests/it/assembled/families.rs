//! A node on both families of IP addresses, found and reached by nodes that have only one.

use undertone_discovery::record::WakuRecord;

use crate::assembled::discovery::Finder;

#[tokio::test(flavor = "multi_thread")]
async fn nodes_of_one_family_each_meet_by_the_record_of_one_that_has_both() {
    let both = Finder::start("", &[("listen-address", "127.0.0.1,::1")]).await;
    let record = both.record().await;
    let read = WakuRecord::parse(&record).expect("its own record");
    assert!(read.enr().udp4_socket().is_some() && read.enr().udp6_socket().is_some());
    let hosts: Vec<_> = read.addresses().iter().map(ToString::to_string).collect();
    assert!(hosts[0].starts_with("/ip4/127.0.0.1/tcp/"), "{hosts:?}");
    assert!(hosts[1].starts_with("/ip6/::1/tcp/"), "{hosts:?}");
    let v4 = Finder::start(&record, &[]).await;
    // Its discv5 has no socket of the other family.
    let v6 = Finder::start(&record, &[("listen-address", "::1")]).await;
    for node in [&v4, &v6] {
        node.has_mesh(1.0).await;
    }
    both.has_mesh(2.0).await;
    v6.publish("by the newer one").await;
    v4.gets("by the newer one").await;
    for node in [both, v4, v6] {
        node.stop().await;
    }
}
