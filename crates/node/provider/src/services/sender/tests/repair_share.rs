use super::*;

fn taken(share: &RepairShare, remaining: u32, epoch: u64, times: u32) -> usize {
    let budget = SendBudget {
        remaining,
        epoch_ends_ns: epoch,
    };
    (0..times).filter(|_| share.take(Some(budget))).count()
}

#[test]
fn answers_use_a_quarter_of_an_epoch_whoever_asks_for_them() {
    let share = RepairShare::default();
    let of_another_channel = share.clone();
    assert_eq!(taken(&share, 20, 1, 3), 3);
    assert_eq!(taken(&of_another_channel, 17, 1, 100), 2);
    assert_eq!(taken(&share, 15, 1, 100), 0);
    assert_eq!(taken(&share, 20, 2, 100), 5, "the next epoch");
    assert_eq!(taken(&share, 3, 3, 100), 0, "too little to share");
}

#[test]
fn without_a_limit_every_answer_goes() {
    let share = RepairShare::default();
    assert!((0..100).all(|_| share.take(None)));
}
