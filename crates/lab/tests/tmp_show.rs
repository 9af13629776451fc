use undertone_lab::experiment::*;
use undertone_lab::record::Scale;
struct N;
fn no<T>() -> Result<T, MachineError> {
    Err(MachineError::Unavailable {
        what: "x".into(),
        remedy: "y".into(),
    })
}
impl Machine for N {
    fn rln_costs(&self, _: usize) -> Result<RlnCosts, MachineError> {
        no()
    }
    fn cities(&self, _: u32) -> Result<Vec<LineRun>, MachineError> {
        no()
    }
    fn community(&self, _: CommunityPlan) -> Result<CommunityRun, MachineError> {
        no()
    }
    fn spam(&self, _: SpamPlan) -> Result<SpamRun, MachineError> {
        no()
    }
    fn tree_sync(&self, _: u32) -> Result<SyncRun, MachineError> {
        no()
    }
}
#[test]
fn show() {
    let ids = std::env::var("IDS").unwrap_or_default();
    let scale = if std::env::var("FULL").is_ok() {
        Scale::Full
    } else {
        Scale::Quick
    };
    for id in ids.split(',') {
        let mut c = Context::new(scale, "x", 2, false, &N);
        match Experiment::find(id).unwrap().run(&mut c) {
            Ok(r) => {
                std::fs::create_dir_all("/tmp/lab-out").unwrap();
                std::fs::write(
                    format!("/tmp/lab-out/{id}.json"),
                    serde_json::to_string_pretty(&r).unwrap(),
                )
                .unwrap();
                println!("{r}")
            }
            Err(e) => println!("{id}: ERROR {e}"),
        }
    }
}
