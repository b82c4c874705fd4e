use bulkhead_sdk::tools;

fn greet() {}

tools![greet];

fn main() {
    greet();
}
