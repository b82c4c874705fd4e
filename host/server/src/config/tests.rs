//! Layers, refusals, and that every setting is declared in the same way.

use clap::Args as _;

use super::*;

fn in_folder(file: &str) -> (tempfile::TempDir, Options) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(FILE_NAME), file).unwrap();
    let options = Options {
        data_dir: Some(folder.path().to_owned()),
        ..Options::default()
    };
    (folder, options)
}

fn load(options: Options) -> Result<Config, ConfigError> {
    Config::load_with(options, std::iter::empty())
}

#[test]
fn a_flag_beats_the_file_and_the_file_beats_the_default() {
    let (_folder, mut options) = in_folder("slots = 3\nqueue = 4\n[ceiling]\nfuel = 5\n");
    options.queue = Some(9);
    let config = load(options).unwrap();
    assert_eq!((config.sandbox.slots, config.sandbox.queue), (3, 9));
    assert_eq!(config.sandbox.ceiling.fuel, 5);
    assert_eq!(config.listen.port(), DEFAULT_PORT);
}

#[test]
fn registration_is_open_on_this_machine_alone_unless_somebody_says_otherwise() {
    for (file, listen, expected) in [
        ("", "127.0.0.1:0", true),
        ("", "[::1]:0", true),
        ("", "[::ffff:127.0.0.1]:0", true),
        ("", "0.0.0.0:0", false),
        ("", "192.0.2.1:0", false),
        ("registration = true", "0.0.0.0:0", true),
        ("registration = false", "127.0.0.1:0", false),
    ] {
        let (_folder, mut options) = in_folder(file);
        options.listen = Some(listen.parse().unwrap());
        options.token = Some("t0ken".to_owned());
        let config = load(options).unwrap();
        assert_eq!(config.is_registration_open(), expected, "{file} {listen}");
    }
}

#[test]
fn an_unknown_key_is_refused_by_its_name() {
    for file in ["slotz = 3", "[ceiling]\nfule = 3"] {
        let (_folder, options) = in_folder(file);
        let error = load(options).unwrap_err().to_string();
        assert!(error.contains("slotz") || error.contains("fule"), "{error}");
    }
}

#[test]
fn a_file_that_was_named_must_exist() {
    let options = Options {
        config: Some("/nonexistent/b.toml".into()),
        ..Options::default()
    };
    assert!(matches!(load(options), Err(ConfigError::Read { .. })));
}

#[test]
fn values_that_make_no_sense_are_refused() {
    for file in [
        "slots = 0",
        "max_connections = 0",
        "receipts_days = 0",
        "receipts_max = 0",
        "run_silence = 0",
        "token = ''",
        "token = 'ä'",
        "mcp_private = '10.0.0.0/8,home'",
        "trusted_proxies = '10.0.0.0/8,proxy.example'",
        "trusted_proxies = '10.0.0.1/8'",
    ] {
        let (_folder, options) = in_folder(file);
        assert!(
            matches!(load(options), Err(ConfigError::Invalid { .. })),
            "{file}"
        );
    }
}

#[test]
fn every_flag_has_a_variable_and_a_key_of_the_same_name() {
    let command = Options::augment_args(clap::Command::new("serve"));
    for argument in command.get_arguments() {
        let key = argument.get_id().as_str();
        let variable = argument.get_env().unwrap().to_str().unwrap();
        let expected = match key {
            "database_url" => "DATABASE_URL".to_owned(),
            key => format!("BULKHEAD_{}", key.to_uppercase()),
        };
        assert_eq!(variable, expected);
        let Err(error) = toml::from_str::<Options>(&format!("{key} = {{}}")) else {
            panic!("{key} takes a table");
        };
        assert_eq!(
            error.to_string().contains("unknown field"),
            key == "config",
            "{error}"
        );
    }
}

#[test]
fn tools_variables_come_from_the_file_and_the_environment() {
    let (_folder, options) = in_folder("[env]\nA = '1'\nB = '2'\n");
    let variables = [
        ("BULKHEAD_TOOL_ENV_B", "3"),
        ("BULKHEAD_TOOL_ENV_", "4"),
        ("C", "5"),
    ];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let config = Config::load_with(options, variables.into_iter()).unwrap();
    let expected = [("A", "1"), ("B", "3")].map(|(n, v)| (n.to_owned(), v.to_owned()));
    assert_eq!(config.env, BTreeMap::from(expected));
}

#[test]
fn every_database_but_the_folders_own_is_shared() {
    let mut config = Config::new("/data");
    assert!(!config.is_shared());
    config.database_url = Some("sqlite:///data/bulkhead.db".to_owned());
    assert!(!config.is_shared());
    for url in ["sqlite:///other/bulkhead.db", "postgres://db/bulkhead"] {
        config.database_url = Some(url.to_owned());
        assert!(config.is_shared(), "{url}");
    }
}

#[test]
fn no_secret_is_in_the_debug_text() {
    let mut config = Config::new("/tmp");
    config.token = Some("hunter2".to_owned());
    config.database_url = Some("postgres://u:hunter2@h/d".to_owned());
    assert!(!format!("{config:?}").contains("hunter2"));
}

#[test]
fn ranges_are_a_list_or_none() {
    for (text, ranges) in [
        ("none", &[][..]),
        ("", &[]),
        ("10.0.0.0/8, ::1", &["10.0.0.0/8", "::1"]),
    ] {
        let options = Options {
            mcp_private: Some(text.to_owned()),
            trusted_proxies: Some(text.to_owned()),
            data_dir: Some("/nonexistent".into()),
            ..Options::default()
        };
        let config = load(options).unwrap();
        let trusted: Vec<Cidr> = ranges.iter().map(|range| range.parse().unwrap()).collect();
        assert_eq!(config.trusted_proxies, trusted, "{text}");
        let private: Vec<PrivateRange> =
            ranges.iter().map(|range| range.parse().unwrap()).collect();
        assert_eq!(config.mcp_private, Some(private), "{text}");
    }
    let named = Options {
        mcp_private: Some("mcp.lan=10.0.0.1".to_owned()),
        data_dir: Some("/nonexistent".into()),
        ..Options::default()
    };
    let named = load(named).unwrap().mcp_private;
    assert_eq!(named, Some(vec!["mcp.lan=10.0.0.1".parse().unwrap()]));
    assert_eq!(Config::new("/data").trusted_proxies, []);
}
