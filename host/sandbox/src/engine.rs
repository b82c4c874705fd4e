//! The engine and its linker.

use bulkhead_egress::Egress;
use tokio::sync::Semaphore;
use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, component::Linker,
};

use crate::{
    Settings, SetupError, Usage, cache::Cache, interfaces, slots::Slots, state::CallState,
};

/// Calls of tools by tools, one inside the other. Three is a tool that uses a tool that uses
/// a tool; a longer chain is a loop.
pub(crate) const MAX_PEER_DEPTH: usize = 3;
/// Core instances of one component. A Python component has about 30.
const MAX_CORE_INSTANCES: u32 = 200;
/// Memories of one component: its own and those of adapters.
const MAX_MEMORIES: u32 = 4;
/// Tables of one component. A component with dynamic libraries has one for each.
const MAX_TABLES: u32 = 40;
/// Bytes of a component instance's own bookkeeping.
const MAX_INSTANCE_BYTES: usize = 4 << 20;
/// The guest's stack. Deep recursion in C or Python needs more than the default.
const WASM_STACK_BYTES: usize = 2 << 20;
/// The whole stack of a call: the guest's and that of the host functions it is in.
const CALL_STACK_BYTES: usize = 3 << 20;
/// Components that are loaded or described at once.
const LOAD_JOBS: usize = 4;
/// Table entries that stay resident in an idle slot, in bytes.
const KEEP_TABLE_BYTES: usize = 64 << 10;

/// What a sandbox shares between its clones.
pub(crate) struct Core {
    pub(crate) engine: Engine,
    pub(crate) linker: Linker<CallState>,
    pub(crate) settings: Settings,
    pub(crate) egress: Egress,
    pub(crate) cache: Cache,
    pub(crate) slots: Slots,
    pub(crate) compile_jobs: std::sync::Arc<Semaphore>,
    /// Loads of compiled artifacts and runs of `describe`: beside compiling, so that a component
    /// that takes long to compile keeps no other waiting that is compiled already.
    pub(crate) load_jobs: std::sync::Arc<Semaphore>,
    pub(crate) pooling: bool,
}

impl Core {
    pub(crate) fn new(settings: Settings, egress: Egress) -> Result<Self, SetupError> {
        let (engine, pooling) = engine(&settings)?;
        let linker = linker(&engine).map_err(|error| SetupError::Engine(error.to_string()))?;
        let cache = Cache::open(&settings, &engine)?;
        Ok(Self {
            cache,
            linker,
            egress,
            slots: Slots::new(&settings),
            compile_jobs: std::sync::Arc::new(Semaphore::new(settings.compile_jobs)),
            load_jobs: std::sync::Arc::new(Semaphore::new(LOAD_JOBS)),
            pooling,
            settings,
            engine,
        })
    }

    pub(crate) fn usage(&self) -> Usage {
        Usage {
            slots: self.settings.slots,
            running: self.slots.running(),
            waiting: self.slots.waiting(),
            pooling: self.pooling,
        }
    }
}

/// The engine, and whether its instances come from preallocated slots.
fn engine(settings: &Settings) -> Result<(Engine, bool), SetupError> {
    if settings.pooling {
        let mut config = config();
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool(settings)));
        match Engine::new(&config) {
            Ok(engine) => return Ok((engine, true)),
            Err(error) => tracing::warn!(
                %error,
                "no address space for preallocated slots; instances are allocated on demand"
            ),
        }
    }
    let mut config = config();
    config.allocation_strategy(InstanceAllocationStrategy::OnDemand);
    let engine = Engine::new(&config).map_err(|error| SetupError::Engine(error.to_string()))?;
    Ok((engine, false))
}

fn config() -> Config {
    let mut config = Config::new();
    config
        .consume_fuel(true)
        .wasm_component_model(true)
        .wasm_memory64(false)
        .max_wasm_stack(WASM_STACK_BYTES)
        .async_stack_size(CALL_STACK_BYTES)
        .memory_init_cow(true)
        // The same input gives the same output on every machine.
        .cranelift_nan_canonicalization(true)
        .relaxed_simd_deterministic(true)
        // Nobody reads a guest's backtrace, and taking one costs more than most calls.
        .wasm_backtrace_max_frames(None);
    config
}

fn pool(settings: &Settings) -> PoolingAllocationConfig {
    // Every call holds a chain of at most MAX_PEER_DEPTH further calls, so that a tool that
    // calls a tool never waits for a slot that it holds itself.
    let stores = Slots::room(settings).saturating_mul(1 + MAX_PEER_DEPTH);
    let stores = u32::try_from(stores).unwrap_or(u32::MAX);
    // `describe` runs beside calls.
    let stores = stores.saturating_add(LOAD_JOBS as u32);
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(stores)
        .total_core_instances(stores.saturating_mul(MAX_CORE_INSTANCES))
        .total_memories(stores.saturating_mul(2))
        .total_tables(stores.saturating_mul(MAX_TABLES))
        .total_stacks(stores)
        .max_core_instances_per_component(MAX_CORE_INSTANCES)
        .max_memories_per_component(MAX_MEMORIES)
        .max_tables_per_component(MAX_TABLES)
        .max_component_instance_size(MAX_INSTANCE_BYTES)
        .max_core_instance_size(MAX_INSTANCE_BYTES)
        .table_elements(usize::try_from(settings.ceiling.table_elements).unwrap_or(usize::MAX))
        .max_memory_size(usize::try_from(settings.ceiling.memory_bytes).unwrap_or(usize::MAX))
        .linear_memory_keep_resident(settings.keep_resident_bytes)
        .table_keep_resident(KEEP_TABLE_BYTES)
        // Resets the pages that a call wrote and no others, where the kernel can tell (6.7).
        .pagemap_scan(Enabled::Auto);
    pool
}

/// Everything that a component may import. Each function checks the call's grant itself.
fn linker(engine: &Engine) -> wasmtime::Result<Linker<CallState>> {
    use wasmtime_wasi::{
        WasiView, cli::WasiCli, cli::WasiCliView, p2::bindings as wasi, random::WasiRandom,
        sockets::WasiSockets, sockets::WasiSocketsView,
    };
    type S = CallState;

    let mut linker = Linker::new(engine);
    let l = &mut linker;
    // wasi:io, wasi:clocks, wasi:random/random and the standard streams.
    wasmtime_wasi::p2::add_to_linker_proxy_interfaces_async(l)?;
    let random: fn(&mut S) -> &mut _ = |state| state.ctx().ctx.random();
    wasi::random::insecure::add_to_linker::<S, WasiRandom>(l, random)?;
    wasi::random::insecure_seed::add_to_linker::<S, WasiRandom>(l, random)?;
    wasi::cli::exit::add_to_linker::<S, WasiCli>(l, S::cli)?;
    wasi::cli::environment::add_to_linker::<S, WasiCli>(l, S::cli)?;
    wasi::cli::terminal_input::add_to_linker::<S, WasiCli>(l, S::cli)?;
    wasi::cli::terminal_output::add_to_linker::<S, WasiCli>(l, S::cli)?;
    wasi::cli::terminal_stdin::add_to_linker::<S, WasiCli>(l, S::cli)?;
    wasi::cli::terminal_stdout::add_to_linker::<S, WasiCli>(l, S::cli)?;
    wasi::cli::terminal_stderr::add_to_linker::<S, WasiCli>(l, S::cli)?;
    // Sockets are linked because whole toolchains import them, and refuse every use.
    wasi::sockets::tcp::add_to_linker::<S, WasiSockets>(l, S::sockets)?;
    wasi::sockets::udp::add_to_linker::<S, WasiSockets>(l, S::sockets)?;
    wasi::sockets::udp_create_socket::add_to_linker::<S, WasiSockets>(l, S::sockets)?;
    wasi::sockets::tcp_create_socket::add_to_linker::<S, WasiSockets>(l, S::sockets)?;
    wasi::sockets::instance_network::add_to_linker::<S, WasiSockets>(l, S::sockets)?;
    let options = wasi::sockets::network::LinkOptions::default();
    wasi::sockets::network::add_to_linker::<S, WasiSockets>(l, &options, S::sockets)?;
    wasi::sockets::ip_name_lookup::add_to_linker::<S, WasiSockets>(l, S::sockets)?;
    interfaces::filesystem::add_to_linker(l)?;
    interfaces::wasi_http::add_to_linker(l)?;
    interfaces::add_to_linker(l)?;
    Ok(linker)
}
