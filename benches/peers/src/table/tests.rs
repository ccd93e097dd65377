use super::*;

/// A line, with these ratios to our call of the same kind and to the one that writes into the
/// caller's memory.
fn entry(case: [&str; 2], who: &str, output: &str, ratios: Option<[f64; 2]>) -> String {
    let times = r#""median_ms":2.0,"p10_ms":1.0,"p90_ms":3.0,"rounds":5"#;
    let figures = match (who, ratios) {
        (OURS, _) => times.to_owned(),
        (_, Some([same, into])) => format!(r#"{times},"ratio":{same},"ratio_into":{into}"#),
        _ => r#""not_offered":"no such call""#.to_owned(),
    };
    let [case, pattern] = case;
    format!(
        r#"{{"case":"{case}","group":"shapes","kind":"rows","op":"gather","axis":0,"batch_dims":0,"dtype":"f32","index_type":"i32","pattern":"{pattern}","bad":0.0,"params_shape":[8],"indices_shape":[2],"output_shape":[2],"scale":4,"who":"{who}","output":"{output}",{figures}}}"#
    )
}

#[test]
fn the_least_ratio_is_the_best_peer_and_means_are_geometric() {
    let run = r#"{"run":{"on":"cpu","date":"d","command":"c","host":"h","threads":2,"versions":{"numpy":"2"}}}"#;
    let (a, b, same) = (["a", "random"], ["b", "random"], ["a", "same"]);
    let texts = [
        run.to_owned(),
        entry(a, OURS, "fresh", None),
        entry(a, "numpy", "fresh", Some([2.0, 4.0])),
        entry(a, "torch", "kept", Some([1.5, 1.5])),
        entry(b, OURS, "fresh", None),
        entry(b, "numpy", "fresh", Some([8.0, 6.0])),
        entry(b, "torch", "kept", None),
        entry(same, OURS, "fresh", None),
        entry(same, "numpy", "fresh", Some([2.0, 3.0])),
    ];
    let lines: Vec<Line> = texts
        .iter()
        .map(|t| serde_json::from_str(t).unwrap())
        .collect();
    let text = table(&lines);
    let squeezed: Vec<String> = text
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    let tail = &squeezed[squeezed.len() - 9..];
    assert_eq!(
        tail,
        [
            "case pattern kind ours ms numpy torch (out=) best peer / into best peer",
            "a /4 random rows 2.0000 2.00 1.50 1.50 1.50 torch (out=)",
            "b /4 random rows 2.0000 8.00 - 6.00 8.00 numpy",
            "a /4 same rows 2.0000 2.00 - 3.00 2.00 numpy",
            "geometric mean rows 3.17 1.50 3.00 2.88",
            "geometric mean random 4.00 1.50 3.00 3.46",
            "geometric mean same 2.00 - 3.00 2.00",
            "geometric mean all 3.17 1.50 3.00 2.88",
            "torch, not offered (no such call): b",
        ]
    );
}

#[test]
fn each_processor_has_a_table() {
    let run = |host: &str, threads: usize| {
        format!(
            r#"{{"run":{{"on":"cpu","date":"d","command":"c","host":"{host}","threads":{threads},"versions":{{}}}}}}"#
        )
    };
    let case = ["a", "random"];
    let texts = [
        run("this", 2),
        entry(case, OURS, "fresh", None),
        run("that", 2),
        entry(case, OURS, "fresh", None),
        run("this", 2),
        entry(case, "numpy", "fresh", Some([2.0, 4.0])),
        run("this", 1),
    ];
    let lines = texts.iter().map(|t| serde_json::from_str(t).unwrap());
    let text = table(&lines.collect::<Vec<Line>>());
    let headings: Vec<&str> = text.lines().filter(|l| l.starts_with("cpu, ")).collect();
    assert_eq!(
        headings,
        [
            "cpu, this, 2 threads",
            "cpu, that, 2 threads",
            "cpu, this, 1 threads"
        ]
    );
    assert_eq!(
        text.matches("numpy").count(),
        2,
        "in one table, and as its best peer"
    );
}
