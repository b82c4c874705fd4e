//! The program `bulkhead`, as a person or a script runs it. One program for all tests: linking
//! the engine takes longer than most of them.

mod bench;
mod demo;
mod help;
mod interrupt;
mod remote;
mod run;
mod scaffold;
mod serve;
mod support;
mod tool;
mod user;
