use crate::common::*;
#[tokio::test]
#[ignore]
async fn scratch() {
    let mut files: Vec<_> = std::fs::read_dir("/tmp/scratch-src")
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    files.sort();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let make = || {
            if file.extension().unwrap() == "py" {
                Tool::python(&text)
            } else {
                Tool::javascript(&text)
            }
        };
        let runs: usize = std::env::var("RUNS")
            .ok()
            .and_then(|v| v.parse().ok())
            .unwrap_or(1);
        let mut walls = Vec::new();
        for n in 0..runs {
            let mut tool = make();
            if let Ok(fuel) = std::env::var("FUEL") {
                tool.limits.fuel = fuel.parse().unwrap();
            }
            if let Ok(fuel) = std::env::var("MEM") {
                tool.limits.memory_bytes = fuel.parse().unwrap();
            }
            let report = tool.call(serde_json::json!({})).await;
            let r = &report.report.receipt;
            walls.push(r.wall_us);
            if n == 0 {
                let mut shown = format!("{:?}", report.report.result);
                shown.truncate(700);
                let mut ex = format!(
                    "{:?}",
                    report.exception.as_ref().map(|e| (
                        &e.kind,
                        e.traceback.len(),
                        e.traceback.chars().take(600).collect::<String>()
                    ))
                );
                ex.truncate(1500);
                eprintln!(
                    "== {}\n   {} fuel {:?} wall {} us peak {} MiB\n   {shown}\n   {ex}",
                    file.display(),
                    r.outcome,
                    r.fuel,
                    r.wall_us,
                    r.peak_memory_bytes >> 20
                );
                for line in report.report.log.iter().rev().take(6).rev() {
                    eprintln!("   | {}", line.message);
                }
            }
        }
        walls.sort();
        eprintln!(
            "   median {} us, p90 {} us, min {} of {}",
            walls[walls.len() / 2],
            walls[walls.len() * 9 / 10],
            walls[0],
            walls.len()
        );
    }
}
