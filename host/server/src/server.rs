//! A server: everything opened in order, and closed in the reverse one.

use std::{
    fs::{File, TryLockError},
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use bulkhead_agent::{Engine, TURN_SILENCE};
use bulkhead_llm::catalog::Catalog;
use bulkhead_sandbox::{CacheKey, CacheKeyError, Sandbox, SetupError};
use bulkhead_store::{KeyError, ReceiptWriter, StoreError};
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    Config, abandoned,
    agents::{background::ServerBackground, models::AllModels, tools::SandboxTools},
    app::App,
    calls::Calls,
    data_dir, database, file_work, heap,
    http::{self, auth::Access, messages::background::Recordings, observe::RequestIds},
    listener::Connections,
    mcp,
    metrics::Metrics,
    platform::Platform,
    registry::{Registry, state::StoredState},
    retention,
    source::{packages::Packages, runtimes::Runtimes},
};

/// The server did not start. Nothing is left running.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// Other machines could reach it and nobody would have to show a token.
    #[error(
        "{0} is no loopback address, so that other machines could use this server; set an access \
         token (BULKHEAD_TOKEN) or listen on 127.0.0.1"
    )]
    TokenRequired(SocketAddr),
    /// The data folder can't be made or written.
    #[error("the data folder {} cannot be used", path.display())]
    DataDir {
        /// The folder.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Another server runs on the data folder. Two would not see each other's changes to what
    /// tools may do.
    #[error(
        "another server is running on the data folder {}; stop it, or choose another folder with \
         --data-dir",
        path.display()
    )]
    InUse {
        /// The folder.
        path: PathBuf,
    },
    /// The installation key can't be had.
    #[error("the installation key cannot be used")]
    Key(#[from] KeyError),
    /// The key of the cache can't be had.
    #[error("the key of the compiled components cannot be used")]
    CacheKey(#[from] CacheKeyError),
    /// The database can't be opened.
    #[error("the database cannot be opened")]
    Store(#[from] StoreError),
    /// The sandbox can't be set up.
    #[error("the sandbox cannot be set up")]
    Sandbox(#[from] SetupError),
    /// A variable that names a provider of models can't be used.
    #[error("a provider of models cannot be used")]
    Provider(#[from] bulkhead_llm::catalog::SettingError),
    /// The client of model providers can't be set up.
    #[error("the client of model providers cannot be set up")]
    ModelClient(#[from] bulkhead_llm::SetupError),
    /// The threads that hash passwords can't be started.
    #[error("passwords cannot be hashed")]
    Passwords(#[from] bulkhead_access::password::StartError),
    /// The address can't be listened on.
    #[error("cannot listen on {addr}")]
    Listen {
        /// The address.
        addr: SocketAddr,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

/// The server's task ended by a defect; the log has the cause.
#[derive(Debug, thiserror::Error)]
#[error("the server's task failed")]
pub struct ServeError(#[from] tokio::task::JoinError);

/// A running server. Dropping it shuts it down in the background.
pub struct Server {
    addr: SocketAddr,
    handle: Handle,
    task: JoinHandle<()>,
}

/// Shuts a server down from elsewhere. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Handle(CancellationToken);

impl Handle {
    /// Begins to shut the server down; [`Server::wait`] ends when that is done.
    pub fn shutdown(&self) {
        self.0.cancel();
    }
}

impl Server {
    /// Starts a server. It answers when this returns; components are loaded when they are
    /// called, and missing built-in tools are installed in the background.
    pub async fn start(config: Config) -> Result<Self, StartError> {
        if config.token.is_none() && !config.listen.ip().to_canonical().is_loopback() {
            return Err(StartError::TokenRequired(config.listen));
        }
        let lock = take_data_dir(&config.data_dir)?;
        let listen_error = |source| StartError::Listen {
            addr: config.listen,
            source,
        };
        let listener = TcpListener::bind(config.listen)
            .await
            .map_err(listen_error)?;
        let addr = listener.local_addr().map_err(listen_error)?;
        let handle = Handle(CancellationToken::new());
        let app = open(&config, handle.0.clone()).await?;
        let connections = Connections::new(
            config.max_connections,
            config.client_timeout,
            config.trusted_proxies.clone(),
        );
        let running = Running {
            app,
            connections,
            stop: handle.0.clone(),
            config,
            lock,
        };
        tracing::info!(%addr, version = env!("CARGO_PKG_VERSION"), "listening");
        let task = tokio::spawn(running.run(listener));
        Ok(Self { addr, handle, task })
    }

    /// The address that it listens on.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Its URL, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// What shuts it down from elsewhere.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Waits until it has shut down.
    pub async fn wait(mut self) -> Result<(), ServeError> {
        Ok((&mut self.task).await?)
    }

    /// Shuts it down: accepts nothing more, gives running calls the configured grace, cancels
    /// those that are left, stores every receipt and closes the database.
    pub async fn shutdown(self) -> Result<(), ServeError> {
        self.handle.shutdown();
        self.wait().await
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.handle.shutdown();
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("addr", &self.addr)
            .finish_non_exhaustive()
    }
}

/// The data folder, for this server alone as long as the file is open.
fn take_data_dir(folder: &Path) -> Result<File, StartError> {
    let failed = |source| StartError::DataDir {
        path: folder.to_owned(),
        source,
    };
    data_dir::make_private(folder).map_err(failed)?;
    data_dir::lock(folder).map_err(|error| match error {
        TryLockError::WouldBlock => StartError::InUse {
            path: folder.to_owned(),
        },
        TryLockError::Error(source) => failed(source),
    })
}

async fn open(config: &Config, closing: CancellationToken) -> Result<Arc<App>, StartError> {
    let key = database::key(config)?;
    let platform = Platform::new(&key, config.prices.clone(), config.is_registration_open())?;
    let mut settings = config.sandbox.clone();
    settings.cache_key = Some(CacheKey::load_or_create(
        &config.data_dir.join("cache.key"),
    )?);
    settings.cache_dir = Some(config.data_dir.join("cache"));
    let client = bulkhead_llm::Client::new(bulkhead_llm::Settings::default())?;
    let lookup = |name: &str| config.provider_env.get(name).cloned();
    let catalog = Catalog::from_env(lookup, &client)?;
    let egress = bulkhead_egress::Egress::new(config.egress.clone()).map_err(SetupError::from)?;
    let own_egress = egress.clone();
    // Both take milliseconds and neither needs the other.
    let sandbox = tokio::task::spawn_blocking(move || Sandbox::with_egress(settings, egress));
    let store = database::open(config, key).await?;
    let sandbox = match sandbox.await {
        Ok(Ok(sandbox)) => sandbox,
        Ok(Err(error)) => {
            store.close().await;
            return Err(error.into());
        }
        Err(panic) => std::panic::resume_unwind(panic.into_panic()),
    };
    let models = AllModels::new(client, catalog, store.clone(), config.is_shared());
    let models = Arc::new(models);
    let engine = Engine::new(store.clone(), Arc::clone(&models) as _);
    let metrics = Arc::new(Metrics::new());
    let registry = Registry::new(
        sandbox.clone(),
        store.clone(),
        Arc::clone(&metrics),
        config.is_shared(),
    );
    let mut mcp = config.mcp.clone();
    mcp.private = mcp::ranges(config.mcp_private.as_deref(), config.token.is_some());
    let app = Arc::new(App {
        mcp: bulkhead_mcp::Client::new(own_egress.clone(), mcp),
        mcp_checks: Arc::default(),
        access: Access::new(config.token.as_deref()),
        platform,
        receipts: ReceiptWriter::start(store.clone()),
        state: Arc::new(StoredState(store.clone())),
        env: Arc::new(config.env.clone()),
        calls: Calls::new(),
        runtimes: Runtimes::default(),
        packages: Packages::new(&config.data_dir),
        ids: RequestIds::new(),
        closing,
        client_timeout: config.client_timeout,
        egress: own_egress,
        tasks: TaskTracker::new(),
        file_work: tokio::sync::Notify::new(),
        engine,
        recordings: Recordings::default(),
        models,
        sandbox,
        store,
        registry,
        metrics,
    });
    app.engine.set_tools(Arc::new(SandboxTools::of(&app)));
    app.engine
        .set_background(Arc::new(ServerBackground::of(&app)));
    match config.is_shared() {
        true => app.engine.share(config.run_silence.min(TURN_SILENCE)),
        false => abandoned::end_all(&app).await,
    }
    Ok(app)
}

/// The parts of the server's task.
struct Running {
    app: Arc<App>,
    connections: Connections,
    stop: CancellationToken,
    config: Config,
    /// Of the data folder.
    lock: File,
}

impl Running {
    async fn run(self, listener: TcpListener) {
        let router = http::router(Arc::clone(&self.app));
        // Nothing waits for it.
        tokio::task::spawn_blocking(heap::give_back);
        let builtins = self.config.builtin_tools.then(|| {
            let (app, stop) = (Arc::clone(&self.app), self.stop.clone());
            app.registry.expect_builtins();
            tokio::spawn(async move {
                app.registry.list_builtins().await;
                app.registry.push_builtins(stop).await;
            })
        });
        let pruning = tokio::spawn(retention::prune(
            self.app.store.clone(),
            self.config.receipts_days,
            self.config.receipts_max,
            self.stop.clone(),
        ));
        // As long as runs go on: others may wait for their turn.
        let ended = CancellationToken::new();
        let reading = tokio::spawn(file_work::run(
            Arc::clone(&self.app),
            self.config.is_shared(),
            self.stop.clone(),
        ));
        let watching = tokio::spawn(abandoned::watch(
            Arc::clone(&self.app),
            self.config.run_silence,
            self.config.is_shared(),
            ended.clone(),
        ));
        tokio::select! {
            () = self.connections.accept(listener, router) => {}
            () = self.stop.cancelled() => {}
        }
        self.connections.stop();
        tracing::info!("shutting down");
        // Its runs store what they have before anything that they need is gone.
        self.app.engine.finish().await;
        ended.cancel();
        self.app.calls.finish(self.config.grace).await;
        self.connections.close().await;
        // What a last request has started meanwhile.
        self.app.calls.finish(Duration::ZERO).await;
        if let Some(Err(error)) = match builtins {
            Some(task) => Some(task.await),
            None => None,
        } {
            tracing::error!(%error, "installing the built-in tools failed");
        }
        if let Err(error) = pruning.await {
            tracing::error!(%error, "deleting old receipts failed");
        }
        if let Err(error) = watching.await {
            tracing::error!(%error, "watching over abandoned runs failed");
        }
        if let Err(error) = reading.await {
            tracing::error!(%error, "reading files failed");
        }
        self.app.tasks.close();
        self.app.tasks.wait().await;
        self.app.receipts.close().await;
        self.app.store.close().await;
        // Whoever waits for this server may start another one on the folder.
        drop(self.lock);
        tracing::info!("shut down");
    }
}
