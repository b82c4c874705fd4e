//! Compiles every guest of this folder.

fn main() -> anyhow::Result<()> {
    Ok(bulkhead_guest_build::embed("tool-")?)
}
