//! The program is killed at random moments under load, many times, and started again on the same
//! data: what a client was told is there, nothing is half there, and everybody can go on at once.
//!
//! - [`program`]: the program as a process that is killed. [`world`]: the agents that it has.
//! - [`load`]: what clients do to it; [`talk`]: one request, as a client reads it. [`journal`]: what
//!   they were told.
//! - [`check`], [`threads`], [`streams`]: what must hold after each start.
//! - [`callbacks`]: who is told of the end of a killed server's run.
//! - [`leaks`]: what a life leaves open that is not cut short, but whose runs are cancelled. [`slow`]:
//!   what clients cost in memory that read nothing.
//!
//! `BULKHEAD_CRASH_SEED` repeats the moments and requests of a run that failed, as far as the
//! machine allows; a failure prints it.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "in a test the panic is the report, and what led to it is printed before"
)]

mod callbacks;
mod check;
mod journal;
mod leaks;
mod load;
mod program;
mod random;
mod slow;
mod streams;
mod talk;
mod threads;
mod world;

use std::time::Duration;

use bulkhead_store::testing::{Kind, TestDatabase};

use crate::{check::Checks, journal::Journal, program::Program, random::Random, world::World};

/// Lives after which agents are made anew: their threads stay short enough for one page and never
/// fill a model's window.
const LIVES_OF_AGENTS: usize = 6;
/// One life of so many is cut short before the server has begun to answer.
const CUT_SHORT: u64 = 8;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_kills_lose_nothing_on_sqlite() {
    killed(50, None, Random::from_environment("sqlite")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_kills_lose_nothing_on_postgres() {
    let random = Random::from_environment("postgres");
    if let Some(database) = TestDatabase::create(Kind::Postgres).await {
        killed(20, Some(database), random).await;
    }
}

/// Kills the program so many times.
async fn killed(kills: usize, database: Option<TestDatabase>, mut random: Random) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut program = Program::new(database);
    let mut checks = Checks::default();
    program.start().await;
    World::prepare(&program).await;
    let mut world = World::new(&program, 0).await;
    let journal = Journal::default();
    // Each step takes longer where the database is another process.
    let longest = if program.is_shared() { 500 } else { 220 };
    for life in 1..=kills {
        let clients = load::begin(&program, &world, &journal, &mut random);
        tokio::time::sleep(random.millis(5, longest)).await;
        program.kill();
        clients.end().await;
        if random.below(CUT_SHORT) == 0 {
            program.spawn();
            tokio::time::sleep(random.millis(0, 60)).await;
            program.kill();
        }
        program.start().await;
        checks
            .after_start(&program, &world, &journal, &mut random)
            .await;
        if life % LIVES_OF_AGENTS == 0 {
            world = World::new(&program, life).await;
            journal.forget();
        }
    }
    // What only time tells on a database that others may share.
    tokio::time::sleep(program.silence() + Duration::from_secs(1)).await;
    checks.at_the_end(&program, kills).await;
}
