//! Whether a report of `--format json` is one of the published schema.

use serde_json::Value;
use std::sync::LazyLock;

static REPORT: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
    let text = std::fs::read_to_string("docs/report.schema.json").expect("the schema");
    let mut schema = serde_json::from_str(&text).expect("the schema is JSON");
    // Others must read what later versions add; here each field has to stand in the schema.
    close(&mut schema);
    jsonschema::validator_for(&schema).expect("the schema is one")
});

/// Objects with known properties have no others.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if fields.get("properties").is_some_and(Value::is_object) && fields.contains_key("required") {
                fields.insert("additionalProperties".to_string(), Value::Bool(false));
            }
            fields.values_mut().for_each(close);
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

/// What is wrong with a report of `--format json`.
pub fn wrong_in_json(text: &str) -> Vec<String> {
    match serde_json::from_str(text) {
        Ok(value) => REPORT.iter_errors(&value).map(|error| format!("{}: {error}", error.instance_path())).collect(),
        Err(error) => vec![error.to_string()],
    }
}
