//! Whether reports are what others read: the schema of SARIF with rules of the SARIF multitool, and JUnit's XML.

use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::LazyLock;

static SARIF: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
    let text = std::fs::read_to_string("tests/sarif/sarif-schema-2.1.0.json").expect("the schema of SARIF");
    // The published pattern of languages lacks a bracket, which makes it no regular expression.
    let text = text.replace("|^[a-zA-Z]{2}-[a-zA-Z]{2}]?$", "(-[a-zA-Z]{2})?$");
    let schema = serde_json::from_str(&text).expect("the schema of SARIF is JSON");
    jsonschema::validator_for(&schema).expect("the schema of SARIF is one")
});

/// What is wrong with a report of `--format sarif`.
pub fn wrong_in_sarif(text: &str) -> Vec<String> {
    let log: Value = match serde_json::from_str(text) {
        Ok(log) => log,
        Err(error) => return vec![error.to_string()],
    };
    let of_schema = SARIF.iter_errors(&log).map(|error| format!("{}: {error}", error.instance_path()));
    let mut wrong: Vec<String> = of_schema.collect();
    let mut check = |holds: bool, rule: &str, about: &Value| {
        if !holds {
            wrong.push(format!("{rule}: {about}"));
        }
    };
    let run = &log["runs"][0];
    let schema = log["$schema"].as_str().unwrap_or_default();
    check(schema == "https://json.schemastore.org/sarif-2.1.0.json", "SARIF1011 ReferenceFinalSchema", &log["$schema"]);
    let driver = &run["tool"]["driver"];
    check(driver["version"].is_string() && driver["name"].is_string(), "SARIF2005 ProvideToolProperties", driver);
    let rules = driver["rules"].as_array().cloned().unwrap_or_default();
    for rule in &rules {
        let (id, name) = (rule["id"].as_str().unwrap_or_default(), rule["name"].as_str().unwrap_or_default());
        check(!id.is_empty() && !id.eq_ignore_ascii_case(name), "SARIF1001 RuleIdentifiersMustBeValid", rule);
        let is_pascal = name.starts_with(char::is_uppercase) && name.chars().all(char::is_alphanumeric);
        check(is_pascal, "SARIF2012 ProvideRuleProperties: name", rule);
        for field in ["/shortDescription/text", "/fullDescription/text", "/help/text", "/help/markdown"] {
            let has = rule.pointer(field).and_then(Value::as_str).is_some_and(|text| !text.trim().is_empty());
            check(has, &format!("SARIF2012 ProvideRuleProperties: {field}"), rule);
        }
        let level = rule.pointer("/defaultConfiguration/level").and_then(Value::as_str).unwrap_or_default();
        check(["error", "warning", "note"].contains(&level), "defaultConfiguration", rule);
        let precision = rule.pointer("/properties/precision").and_then(Value::as_str).unwrap_or_default();
        check(["very-high", "high", "medium", "low"].contains(&precision), "GitHub: precision", rule);
        let severity = rule.pointer("/properties/problem.severity").and_then(Value::as_str).unwrap_or_default();
        check(["error", "warning", "recommendation"].contains(&severity), "GitHub: problem.severity", rule);
    }
    let ids: BTreeSet<&str> = rules.iter().filter_map(|rule| rule["id"].as_str()).collect();
    check(ids.len() == rules.len(), "SARIF1010 RuleIdMustBeConsistent: twice", &driver["rules"]);
    let results = run["results"].as_array().cloned().unwrap_or_default();
    let used: BTreeSet<&str> = results.iter().filter_map(|result| result["ruleId"].as_str()).collect();
    check(used == ids, "SARIF2004 OptimizeFileSize: rules are those of results", &driver["rules"]);
    for result in &results {
        let rule = result["ruleIndex"].as_u64().and_then(|index| rules.get(index as usize));
        check(rule.is_some(), "SARIF1009 IndexPropertiesMustBeConsistentWithArrays", result);
        check(rule.is_some_and(|rule| rule["id"] == result["ruleId"]), "SARIF1010 RuleIdMustBeConsistent", result);
        let text = result["message"]["text"].as_str().unwrap_or_default();
        check(text.ends_with('.'), "SARIF2001 TerminateMessagesWithPeriod", result);
        let is_print = |print: &Value| print.as_str().is_some_and(|text| text.len() >= 16);
        let prints = result["partialFingerprints"].as_object().cloned().unwrap_or_default();
        check(prints.len() == 2 && prints.values().all(is_print), "partialFingerprints", result);
        let locations = result["locations"].as_array().cloned().unwrap_or_default();
        check(locations.len() == 1, "GH1001 ProvideRequiredLocationProperties", result);
        let related = result["relatedLocations"].as_array().cloned().unwrap_or_default();
        for place in locations.iter().chain(&related) {
            check(is_region(&place["physicalLocation"]["region"]), "SARIF1007, GH1003: region", place);
            let uri = place["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap_or_default();
            let is_uri = !uri.is_empty() && !uri.contains([' ', '\\']) && !uri.split('/').any(|part| part == ".");
            check(is_uri, "SARIF1002 UrisMustBeValid", place);
        }
    }
    wrong
}

/// All four numbers, and the end behind the start.
fn is_region(region: &Value) -> bool {
    let number = |name: &str| region[name].as_u64().filter(|&number| number > 0);
    let [line, column, end_line, end_column] = ["startLine", "startColumn", "endLine", "endColumn"].map(number);
    let all = [line, column, end_line, end_column].iter().all(Option::is_some);
    let snippet = region["snippet"]["text"].as_str();
    let length = end_column.zip(column).and_then(|(end, start)| end.checked_sub(start));
    let is_whole = snippet.is_none_or(|text| line == end_line && length == Some(text.chars().count() as u64));
    all && is_whole && (line, column) < (end_line, end_column)
}

/// What is wrong with a report of `--format junit`.
pub fn wrong_in_junit(text: &str) -> Vec<String> {
    let document = match roxmltree::Document::parse(text) {
        Ok(document) => document,
        Err(error) => return vec![error.to_string()],
    };
    let mut wrong = Vec::new();
    let root = document.root_element();
    if root.tag_name().name() != "testsuites" {
        wrong.push("the root is no `testsuites`".to_string());
    }
    // Counts are those of the cases below.
    for node in document.descendants().filter(|node| ["testsuites", "testsuite"].contains(&node.tag_name().name())) {
        let with = |tag: &str| node.descendants().filter(|below| below.has_tag_name(tag)).count().to_string();
        for (attribute, tag) in
            [("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")]
        {
            if let Some(count) = node.attribute(attribute).filter(|count| *count != with(tag)) {
                wrong.push(format!("{attribute}=\"{count}\", but {} `{tag}`", with(tag)));
            }
        }
    }
    for case in document.descendants().filter(|node| node.has_tag_name("testcase")) {
        let has = ["classname", "name", "time"].iter().all(|name| case.attribute(*name).is_some());
        let outcomes = case.children().filter(|node| node.is_element() && !node.has_tag_name("system-out")).count();
        let in_suite = case.parent().is_some_and(|parent| parent.has_tag_name("testsuite"));
        if !has || outcomes > 1 || !in_suite {
            wrong.push(format!("a case: {case:?}"));
        }
    }
    wrong
}
