//! Interface `secrets`.

pub(crate) use super::wit::secrets::reveal;
