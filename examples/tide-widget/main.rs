// A widget above pi's editor: the tide of the next hours, as a row of blocks. It needs nothing but the standard library.
//
// Messages are lines of JSON on standard input and output. A program this small finds the few fields that it needs by
// their names; use serde_json for more.

use std::f64::consts::TAU;
use std::io::{self, BufRead, Write};
use std::time::{SystemTime, UNIX_EPOCH};

/// Hours from one high water to the next.
const PERIOD: f64 = 12.42;
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The value of a field, as it is written: a number, or the text between quotes.
fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let key = format!("\"{name}\":");
    let value = &line[line.find(&key)? + key.len()..];
    match value.strip_prefix('"') {
        Some(text) => text.split('"').next(),
        None => value.split([',', '}']).next(),
    }
}

fn send(message: &str) {
    let mut out = io::stdout().lock();
    // pi has gone if this fails, and standard input ends next.
    let _ = writeln!(out, "{message}").and_then(|()| out.flush());
}

/// The height of the water at an hour since 1970, from 0 to 1.
fn height(hour: f64) -> f64 {
    (1.0 + (TAU * hour / PERIOD).sin()) / 2.0
}

/// The row of the widget: a name, and one block for each quarter of an hour that fits into the width.
fn row(width: usize) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64() / 3600.0);
    let rises = height(now + 0.1) > height(now);
    let name = if rises { "flood " } else { "ebb   " };
    let curve: String = (0..width.saturating_sub(name.len()))
        .map(|quarter| BLOCKS[(height(now + quarter as f64 / 4.0) * 7.0).round() as usize])
        .collect();
    format!("{name}\\u001b[36m{curve}\\u001b[39m")
}

fn main() {
    send(r#"{"type":"ready","contract":"1.1","hooks":{"session_start":{}},"registers":{}}"#);
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        match (field(&line, "type"), field(&line, "op")) {
            (Some("hook"), _) => {
                let (id, ctx) = (field(&line, "id").unwrap_or("0"), field(&line, "ctx").unwrap_or(""));
                send(&format!(
                    r#"{{"type":"surface","op":"open","surface":"tide","ctx":"{ctx}","kind":"widget","key":"tide"}}"#
                ));
                send(&format!(r#"{{"type":"answer","id":{id},"answer":null}}"#));
            }
            (Some("surface"), Some("size")) => {
                let width = field(&line, "width").and_then(|text| text.parse().ok()).unwrap_or(80);
                send(&format!(
                    r#"{{"type":"surface","op":"lines","surface":"tide","lines":["{}"]}}"#,
                    row(width)
                ));
            }
            (Some("shutdown"), _) => return,
            _ => {}
        }
    }
}
