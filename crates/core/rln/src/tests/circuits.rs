use super::*;
use crate::Key;
use crate::arkzkey::Defect;

/// Error for the deployed circuit with a change, as if the table did not match its files.
fn refused(change: impl FnOnce(&mut CircuitSpec)) -> (KeyError, String) {
    let mut spec = CIRCUITS[0];
    change(&mut spec);
    let error = Key::read(Box::leak(Box::new(spec))).err().unwrap();
    let said = error.to_string();
    (error, said)
}

#[test]
fn every_circuit_of_the_table_loads_by_its_name() {
    for circuit in &CIRCUITS {
        let key = Key::of(circuit.name).unwrap();
        assert_eq!(key.spec().name, circuit.name);
    }
    assert_eq!(Key::load().unwrap().spec().name, DEPLOYED);
}

#[test]
fn an_unknown_circuit_is_answered_with_the_known_ones() {
    let said = Key::of("poseidon2").err().unwrap().to_string();
    assert_eq!(
        said,
        r#"no circuit is called "poseidon2"; known: rln-v2-depth-20"#
    );
}

#[test]
fn a_file_with_another_checksum_is_named_with_both() {
    let (_, said) = refused(|spec| spec.graph.sha256 = "00");
    for part in [
        "tree_depth_20/graph.bin",
        "expected 00",
        "eaf1868e",
        "restore",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn another_depth_is_refused_with_both_numbers() {
    let (error, said) = refused(|spec| spec.tree_depth = 24);
    assert!(matches!(error, KeyError::Depth { found: 24, .. }));
    assert!(
        said.contains("depth 24") && said.contains("depth 20"),
        "{said}"
    );
    let (error, _) = refused(|spec| spec.max_out = 4);
    assert!(matches!(error, KeyError::MaxOut { found: 4, .. }));
}

#[test]
fn another_number_of_public_inputs_is_refused_with_both_numbers() {
    let (error, said) = refused(|spec| spec.public_inputs = 6);
    let KeyError::Malformed { file, what, .. } = error else {
        panic!("{said}");
    };
    let (found, expected) = (5, 6);
    assert_eq!(what, Defect::PublicInputs { found, expected });
    assert_eq!(file, "tree_depth_20/rln_final.arkzkey");
    assert!(
        said.contains("for 5 public inputs") && said.contains("says 6"),
        "{said}"
    );
}

#[test]
fn files_in_each_others_place_are_refused() {
    let (error, _) = refused(|spec| spec.graph = spec.key);
    assert!(matches!(
        error,
        KeyError::Malformed {
            what: Defect::Magic,
            ..
        }
    ));
    let (error, _) = refused(|spec| spec.key = spec.rows);
    assert!(matches!(error, KeyError::Malformed { .. }));
}
