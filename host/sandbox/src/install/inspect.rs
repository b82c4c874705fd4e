//! What can be known of a component without compiling it: imports, exports, sizes, wishes.

use wasmparser::{Encoding, Parser, Payload, Validator};

use crate::{
    Import, InstallError, Kind,
    interfaces::{RUNTIME_INTERFACE, TOOLS_INTERFACE},
};

/// The custom section in which the SDK's macro writes wishes, one JSON object a line.
const WISHES_SECTION: &str = "bulkhead:wishes";
/// Bytes of all wishes of one component.
const MAX_WISHES_BYTES: usize = 64 * 1024;
/// Functions of all its modules. CPython with its standard library has about 20,000.
const MAX_FUNCTIONS: u64 = 200_000;
/// Bytes of one function's body. The compiler's time grows faster than a body's length;
/// CPython's interpreter loop, the largest seen, has under 400 kB.
const MAX_BODY_BYTES: usize = 1 << 20;
/// Modules and components in it. A component with dynamic libraries has some thirty.
const MAX_MODULES: u64 = 200;
/// Imports of the component.
const MAX_IMPORTS: usize = 500;

const NATIVE_PREFIX: &str = "bulkhead:tool/tools@";
const RUNTIME_PREFIX: &str = "bulkhead:tool/source-runtime@";

/// Interfaces that this host links, without version. `wasi:` ones are version 0.2.
const PROVIDED: &[&str] = &[
    "bulkhead:tool/types",
    "bulkhead:tool/context",
    "bulkhead:tool/http",
    "bulkhead:tool/state",
    "bulkhead:tool/memory",
    "bulkhead:tool/recall",
    "bulkhead:tool/files",
    "bulkhead:tool/agents",
    "bulkhead:tool/peers",
    "bulkhead:tool/secrets",
    "wasi:io/error",
    "wasi:io/poll",
    "wasi:io/streams",
    "wasi:clocks/wall-clock",
    "wasi:clocks/monotonic-clock",
    "wasi:random/random",
    "wasi:random/insecure",
    "wasi:random/insecure-seed",
    "wasi:cli/environment",
    "wasi:cli/exit",
    "wasi:cli/stdin",
    "wasi:cli/stdout",
    "wasi:cli/stderr",
    "wasi:cli/terminal-input",
    "wasi:cli/terminal-output",
    "wasi:cli/terminal-stdin",
    "wasi:cli/terminal-stdout",
    "wasi:cli/terminal-stderr",
    "wasi:filesystem/types",
    "wasi:filesystem/preopens",
    "wasi:sockets/network",
    "wasi:sockets/instance-network",
    "wasi:sockets/ip-name-lookup",
    "wasi:sockets/tcp",
    "wasi:sockets/tcp-create-socket",
    "wasi:sockets/udp",
    "wasi:sockets/udp-create-socket",
    "wasi:http/types",
    "wasi:http/outgoing-handler",
];

/// Imports through which nothing beyond the call's input and output is reached, learnt or
/// changed. Standard streams are captured; sockets refuse every use; the seed of hash maps is
/// the same for every call. Standard libraries import variables and folders unasked: there are
/// none but those that are granted, and a call under any grant is not pure.
const WITHOUT_EFFECT: &[&str] = &[
    "bulkhead:tool/types",
    "wasi:io/error",
    "wasi:io/poll",
    "wasi:io/streams",
    "wasi:random/insecure-seed",
    "wasi:cli/environment",
    "wasi:cli/exit",
    "wasi:cli/stdin",
    "wasi:cli/stdout",
    "wasi:cli/stderr",
    "wasi:cli/terminal-input",
    "wasi:cli/terminal-output",
    "wasi:cli/terminal-stdin",
    "wasi:cli/terminal-stdout",
    "wasi:cli/terminal-stderr",
    "wasi:filesystem/types",
    "wasi:filesystem/preopens",
    "wasi:sockets/network",
    "wasi:sockets/instance-network",
    "wasi:sockets/ip-name-lookup",
    "wasi:sockets/tcp",
    "wasi:sockets/tcp-create-socket",
    "wasi:sockets/udp",
    "wasi:sockets/udp-create-socket",
];

/// What was read of a component.
#[derive(Debug)]
pub(super) struct Inspected {
    pub(super) kind: Kind,
    /// Whether it is the runtime of a language.
    pub(super) runtime: bool,
    /// Names of imported interfaces, with version.
    pub(super) imports: Vec<String>,
    /// The text of all wish sections; none where there is no such section.
    pub(super) wishes: Option<String>,
}

impl Inspected {
    /// Whether the component imports this interface, in any version.
    pub(super) fn imports_interface(&self, interface: &str) -> bool {
        self.imports
            .iter()
            .any(|import| without_version(import) == interface)
    }

    /// The imports, and whether each has an effect by itself.
    pub(super) fn described_imports(&self) -> Vec<Import> {
        let imports = self.imports.iter();
        imports
            .map(|name| Import {
                effect: !WITHOUT_EFFECT.contains(&without_version(name)),
                name: name.clone(),
            })
            .collect()
    }
}

/// Validates a component that was never compiled here.
pub(super) fn validate(bytes: &[u8]) -> Result<(), InstallError> {
    Validator::new()
        .validate_all(bytes)
        .map(|_| ())
        .map_err(|error| InstallError::Invalid(error.to_string()))
}

/// Reads what is to be known of a component before it is compiled. A walk over its sections:
/// cheap enough for components whose artifact is in the cache.
pub(super) fn inspect(bytes: &[u8]) -> Result<Inspected, InstallError> {
    if !bytes.starts_with(b"\0asm") {
        return Err(InstallError::NotAComponent(
            "it does not begin with the bytes of WebAssembly".to_owned(),
        ));
    }
    if Parser::is_core_wasm(bytes) {
        return Err(InstallError::NotAComponent(
            "it is a core module; build for wasm32-wasip2, or wrap it with wasm-tools component new"
                .to_owned(),
        ));
    }
    let mut walk = Walk::default();
    for payload in Parser::new(0).parse_all(bytes) {
        let payload = payload.map_err(|error| InstallError::NotAComponent(error.to_string()))?;
        walk.visit(&payload)?;
    }
    walk.finish()
}

#[derive(Default)]
struct Walk {
    depth: u32,
    modules: u64,
    functions: u64,
    imports: Vec<String>,
    exports: Vec<String>,
    wishes: Option<String>,
    component: bool,
}

impl Walk {
    fn visit(&mut self, payload: &Payload<'_>) -> Result<(), InstallError> {
        match payload {
            Payload::Version {
                encoding: Encoding::Component,
                ..
            } => self.component = true,
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => {
                self.depth += 1;
                self.modules += 1;
                if self.modules > MAX_MODULES {
                    return Err(too_many("modules", MAX_MODULES));
                }
            }
            Payload::End(_) => self.depth = self.depth.saturating_sub(1),
            Payload::CodeSectionStart { count, .. } => {
                self.functions += u64::from(*count);
                if self.functions > MAX_FUNCTIONS {
                    return Err(too_many("functions", MAX_FUNCTIONS));
                }
            }
            Payload::CodeSectionEntry(body) => {
                let range = body.range();
                if range.end - range.start > MAX_BODY_BYTES {
                    return Err(too_many("bytes in one function", MAX_BODY_BYTES as u64));
                }
            }
            Payload::ComponentImportSection(imports) if self.depth == 0 => {
                for import in imports.clone() {
                    let import = import.map_err(|e| InstallError::Invalid(e.to_string()))?;
                    self.imports.push(import.name.name.to_owned());
                    if self.imports.len() > MAX_IMPORTS {
                        return Err(too_many("imports", MAX_IMPORTS as u64));
                    }
                }
            }
            Payload::ComponentExportSection(exports) if self.depth == 0 => {
                for export in exports.clone() {
                    let export = export.map_err(|e| InstallError::Invalid(e.to_string()))?;
                    self.exports.push(export.name.name.to_owned());
                }
            }
            Payload::CustomSection(section) if section.name() == WISHES_SECTION => {
                self.wish(section.data())?;
            }
            _ => {}
        }
        Ok(())
    }

    fn wish(&mut self, data: &[u8]) -> Result<(), InstallError> {
        let text = std::str::from_utf8(data)
            .map_err(|_| InstallError::Invalid(format!("{WISHES_SECTION} is not UTF-8")))?;
        let wishes = self.wishes.get_or_insert_default();
        if wishes.len() + text.len() > MAX_WISHES_BYTES {
            return Err(too_many("bytes of wishes", MAX_WISHES_BYTES as u64));
        }
        wishes.push_str(text);
        wishes.push('\n');
        Ok(())
    }

    fn finish(self) -> Result<Inspected, InstallError> {
        if !self.component {
            return Err(InstallError::NotAComponent(
                "it has no component header".to_owned(),
            ));
        }
        let unknown: Vec<_> = self
            .imports
            .iter()
            .filter(|name| !provided(name))
            .cloned()
            .collect();
        if !unknown.is_empty() {
            return Err(InstallError::UnknownImports(unknown));
        }
        let runtime = self
            .exports
            .iter()
            .find(|name| name.starts_with(RUNTIME_PREFIX));
        let native = self
            .exports
            .iter()
            .find(|name| name.starts_with(NATIVE_PREFIX));
        let runtime = match runtime {
            Some(found) if !compatible(found, RUNTIME_INTERFACE) => {
                return Err(InstallError::WrongVersion {
                    found: found.clone(),
                    expected: RUNTIME_INTERFACE.to_owned(),
                });
            }
            found => found.is_some(),
        };
        let kind = match native {
            Some(found) if compatible(found, TOOLS_INTERFACE) => Kind::Native,
            Some(found) => {
                return Err(InstallError::WrongVersion {
                    found: found.clone(),
                    expected: TOOLS_INTERFACE.to_owned(),
                });
            }
            None => Kind::Plain,
        };
        Ok(Inspected {
            kind,
            runtime,
            imports: self.imports,
            wishes: self.wishes,
        })
    }
}

fn too_many(what: &str, limit: u64) -> InstallError {
    InstallError::Invalid(format!(
        "it has more {what} than the {limit} that are allowed"
    ))
}

fn without_version(name: &str) -> &str {
    name.split('@').next().unwrap_or(name)
}

fn provided(name: &str) -> bool {
    if !PROVIDED.contains(&without_version(name)) {
        return false;
    }
    let version = name.split_once('@').map_or("", |(_, version)| version);
    if name.starts_with("wasi:") {
        version.starts_with("0.2.")
    } else {
        version.starts_with("0.1.")
    }
}

/// Same name, and the same version up to its last part (semantic versioning below 1.0).
fn compatible(found: &str, expected: &str) -> bool {
    let series = |name: &str| name.rsplit_once('.').map(|(series, _)| series.to_owned());
    series(found) == series(expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wat(text: &str) -> Result<Inspected, InstallError> {
        inspect(&wat::parse_str(text).expect("valid text"))
    }

    #[test]
    fn what_is_no_component_is_named() {
        for bytes in [&b""[..], b"\0as", b"hello", b"\0asm", b"\0asm\x0d\0\x01"] {
            let found = inspect(bytes);
            assert!(
                matches!(found, Err(InstallError::NotAComponent(_))),
                "{bytes:?} {found:?}"
            );
        }
        let module = wat::parse_str("(module)").expect("valid text");
        assert!(matches!(
            inspect(&module),
            Err(InstallError::NotAComponent(_))
        ));
    }

    #[test]
    fn unknown_imports_are_all_named() {
        let found = wat(r#"(component
                (import "wasi:nn/graph@0.2.0" (instance))
                (import "wasi:cli/exit@0.3.0" (instance))
                (import "wasi:cli/exit@0.2.3" (instance)))"#);
        let expected = ["wasi:nn/graph@0.2.0", "wasi:cli/exit@0.3.0"].map(str::to_owned);
        assert_eq!(
            found.err(),
            Some(InstallError::UnknownImports(expected.to_vec()))
        );
    }

    #[test]
    fn another_version_of_the_abi_is_refused_by_name() {
        let found =
            wat(r#"(component (instance $i) (export "bulkhead:tool/tools@9.0.0" (instance $i)))"#);
        assert!(
            matches!(found, Err(InstallError::WrongVersion { .. })),
            "{found:?}"
        );
    }

    #[test]
    fn wishes_are_read_from_nested_modules_too() {
        let found = wat(r#"(component
                (@custom "bulkhead:wishes" "a")
                (core module (@custom "bulkhead:wishes" "b")))"#);
        assert_eq!(found.expect("valid").wishes.as_deref(), Some("a\nb\n"));
    }
}
