//! `console`: what is printed appears at once, line by line.

use std::{cell::RefCell, collections::BTreeMap, rc::Rc, time::Instant};

use boa_engine::{Context, JsArgs, JsResult, JsValue};

use super::functions;
use crate::{
    engine::{
        inspect::{inspect, inspect_to, shown},
        json::to_json,
        object_keys, services,
    },
    host::Stream,
};

/// What the console remembers.
#[derive(Default)]
struct State {
    /// Two spaces for each open group.
    indent: RefCell<String>,
    counts: RefCell<BTreeMap<String, u32>>,
    times: RefCell<BTreeMap<String, Instant>>,
}

pub(super) fn new(context: &mut Context) -> JsResult<JsValue> {
    context.insert_data(Rc::new(State::default()));
    let list: &[(&str, super::Native, usize)] = &[
        ("log", out, 0),
        ("info", out, 0),
        ("debug", out, 0),
        ("warn", error, 0),
        ("error", error, 0),
        ("trace", error, 0),
        ("dir", dir, 0),
        ("table", table, 1),
        ("assert", assert, 0),
        ("group", group, 0),
        ("groupCollapsed", group, 0),
        ("groupEnd", group_end, 0),
        ("count", count, 0),
        ("countReset", count_reset, 0),
        ("time", time, 0),
        ("timeLog", time_log, 0),
        ("timeEnd", time_end, 0),
    ];
    Ok(functions(list, context).into())
}

fn state(context: &Context) -> Rc<State> {
    context
        .get_data::<Rc<State>>()
        .map(Rc::clone)
        .unwrap_or_default()
}

fn print(stream: Stream, text: &str, context: &Context) {
    let state = state(context);
    let indent = state.indent.borrow();
    let text = match indent.is_empty() {
        true => text.to_owned(),
        false => format!("{indent}{}", text.replace('\n', &format!("\n{indent}"))),
    };
    services(context).host.print(stream, &text);
}

fn out(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let text = formatted(args, context)?;
    print(Stream::Out, &text, context);
    Ok(JsValue::undefined())
}

fn error(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let text = formatted(args, context)?;
    print(Stream::Error, &text, context);
    Ok(JsValue::undefined())
}

fn dir(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let text = inspect(args.get_or_undefined(0), context);
    print(Stream::Out, &text, context);
    Ok(JsValue::undefined())
}

fn assert(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    if !args.get_or_undefined(0).to_boolean() {
        let text = formatted(args.get(1..).unwrap_or_default(), context)?;
        let text = match text.as_str() {
            "" => "Assertion failed".to_owned(),
            text => format!("Assertion failed: {text}"),
        };
        print(Stream::Error, &text, context);
    }
    Ok(JsValue::undefined())
}

fn group(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    if !args.is_empty() {
        out(&JsValue::undefined(), args, context)?;
    }
    state(context).indent.borrow_mut().push_str("  ");
    Ok(JsValue::undefined())
}

fn group_end(_: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let state = state(context);
    let mut indent = state.indent.borrow_mut();
    let shorter = indent.len().saturating_sub(2);
    indent.truncate(shorter);
    Ok(JsValue::undefined())
}

fn label(args: &[JsValue], context: &mut Context) -> String {
    match args.first() {
        Some(label) if !label.is_undefined() => shown(label, context),
        _ => "default".to_owned(),
    }
}

fn count(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let label = label(args, context);
    let count = {
        let state = state(context);
        let mut counts = state.counts.borrow_mut();
        let count = counts.entry(label.clone()).or_default();
        *count = count.saturating_add(1);
        *count
    };
    print(Stream::Out, &format!("{label}: {count}"), context);
    Ok(JsValue::undefined())
}

fn count_reset(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let label = label(args, context);
    state(context).counts.borrow_mut().remove(&label);
    Ok(JsValue::undefined())
}

fn time(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let label = label(args, context);
    state(context)
        .times
        .borrow_mut()
        .insert(label, Instant::now());
    Ok(JsValue::undefined())
}

fn time_log(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let label = label(args, context);
    let begun = state(context).times.borrow().get(&label).copied();
    if let Some(begun) = begun {
        let elapsed = begun.elapsed().as_secs_f64() * 1000.0;
        print(Stream::Out, &format!("{label}: {elapsed:.3}ms"), context);
    }
    Ok(JsValue::undefined())
}

fn time_end(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    time_log(this, args, context)?;
    let label = label(args, context);
    state(context).times.borrow_mut().remove(&label);
    Ok(JsValue::undefined())
}

/// The arguments with spaces between, the first as a format if it has places for others.
fn formatted(args: &[JsValue], context: &mut Context) -> JsResult<String> {
    let mut rest = args.iter();
    let mut text = String::new();
    if let Some(first) = args.first()
        && let Some(format) = first.as_string()
        && args.len() > 1
    {
        rest.next();
        fill(&format.to_std_string_lossy(), &mut rest, &mut text, context)?;
    } else if let Some(first) = rest.next() {
        text.push_str(&shown(first, context));
    }
    for value in rest {
        text.push(' ');
        text.push_str(&shown(value, context));
    }
    Ok(text)
}

/// Fills the places of a format: `%s`, `%d`, `%i`, `%f`, `%j`, `%o`, `%O`, `%c`.
fn fill<'v>(
    format: &str,
    values: &mut impl Iterator<Item = &'v JsValue>,
    out: &mut String,
    context: &mut Context,
) -> JsResult<()> {
    let mut characters = format.chars().peekable();
    while let Some(character) = characters.next() {
        let Some(kind) = characters.peek().copied().filter(|_| character == '%') else {
            out.push(character);
            continue;
        };
        if kind == '%' {
            characters.next();
            out.push('%');
            continue;
        }
        if !"sdifjoOc".contains(kind) {
            out.push('%');
            continue;
        }
        let Some(value) = values.next() else {
            out.push('%');
            continue;
        };
        characters.next();
        match kind {
            's' => out.push_str(&match value.as_object() {
                Some(_) => inspect_to(value, 0, context),
                None => shown(value, context),
            }),
            'c' => {}
            'j' => {
                let json = to_json(value, context)?;
                out.push_str(json.as_deref().unwrap_or("undefined"));
            }
            'o' | 'O' => out.push_str(&inspect_to(value, 4, context)),
            kind => {
                let number = match value.is_object() || value.is_symbol() {
                    true => f64::NAN,
                    false => value.to_number(context).unwrap_or(f64::NAN),
                };
                let number = if kind == 'i' { number.trunc() } else { number };
                out.push_str(&shown(&JsValue::new(number), context));
            }
        }
    }
    Ok(())
}

/// Rows of objects, or of lists, with a frame around.
fn table(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    const VALUES: &str = "Values";
    let Some(data) = args.get_or_undefined(0).as_object() else {
        return out(this, args, context);
    };
    let mut columns = vec!["(index)".to_owned()];
    let mut rows = Vec::new();
    for key in object_keys(&data, context)? {
        let value = data.get(key.clone(), context)?;
        let mut cells = vec![key.to_std_string_lossy()];
        let mut set = |name: String, text: String| {
            let at = columns.iter().position(|column| *column == name);
            let at = at.unwrap_or_else(|| {
                columns.push(name);
                columns.len() - 1
            });
            cells.resize(cells.len().max(at + 1), String::new());
            cells[at] = text;
        };
        match value.as_object() {
            Some(row) => {
                for name in object_keys(&row, context)? {
                    let cell = row.get(name.clone(), context)?;
                    set(name.to_std_string_lossy(), inspect_to(&cell, 0, context));
                }
            }
            None => set(VALUES.to_owned(), inspect(&value, context)),
        }
        rows.push(cells);
    }
    print(Stream::Out, &frame(&columns, &rows), context);
    Ok(JsValue::undefined())
}

fn frame(columns: &[String], rows: &[Vec<String>]) -> String {
    let width = |text: &str| text.chars().count();
    let cell = |row: &[String], column: usize| row.get(column).cloned().unwrap_or_default();
    let widths: Vec<usize> = (0..columns.len())
        .map(|column| {
            let cells = rows.iter().map(|row| width(&cell(row, column)));
            cells.max().unwrap_or(0).max(width(&columns[column])) + 2
        })
        .collect();
    let rule = |left: &str, middle: &str, right: &str| {
        let lines: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
        format!("{left}{}{right}", lines.join(middle))
    };
    let line = |row: &[String]| {
        let cells = widths.iter().enumerate().map(|(column, whole)| {
            let text = cell(row, column);
            format!(" {text}{}", " ".repeat(whole - 1 - width(&text)))
        });
        format!("│{}│", cells.collect::<Vec<_>>().join("│"))
    };
    let mut lines = vec![rule("┌", "┬", "┐"), line(columns), rule("├", "┼", "┤")];
    lines.extend(rows.iter().map(|row| line(row)));
    lines.push(rule("└", "┴", "┘"));
    lines.join("\n")
}
