use serde_json::{Value, json};
use utoipa::{
    PartialSchema as _,
    openapi::path::{OperationBuilder, ParameterBuilder},
};

use super::*;

/// Form of a parameter's value in the description, once the description is complete.
fn form(schema: RefOr<Schema>, parameter_in: ParameterIn) -> Value {
    let parameter = ParameterBuilder::new()
        .name("x")
        .parameter_in(parameter_in)
        .schema(Some(schema));
    let mut operation = OperationBuilder::new().parameter(parameter).build();
    complete_one("/x", &mut operation, false);
    serde_json::to_value(operation).unwrap()["parameters"][0]["schema"].clone()
}

#[test]
fn numbers_and_truth_values_of_a_query_may_be_empty() {
    let nothing = json!({"type": "string", "maxLength": 0});
    let truth = form(bool::schema(), ParameterIn::Query);
    assert_eq!(truth["anyOf"], json!([{"type": "boolean"}, nothing]));
    let number = form(i64::schema(), ParameterIn::Query);
    assert_eq!(number["anyOf"][1], nothing);
    let text = form(String::schema(), ParameterIn::Query);
    assert_eq!(text, json!({"type": "string"}));
    let in_path = form(bool::schema(), ParameterIn::Path);
    assert_eq!(in_path, json!({"type": "boolean"}));
}
