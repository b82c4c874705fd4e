//! The sizes of this interface, each with its reason.

/// Folders of one call. Each is opened when the call begins.
pub(super) const MAX_FOLDERS: usize = 32;
/// Files, folders and listings that one call may hold open. Unix programs live with 256.
pub(super) const MAX_DESCRIPTORS: u64 = 256;
/// The share of all guests' descriptors that one call may hold, as a divisor: where the system
/// allows few, one call can't take them all from its neighbours.
pub(super) const CALL_SHARE: u64 = 4;
/// Streams that one call may hold open on files; each may buffer one chunk.
pub(super) const MAX_STREAMS: u64 = 64;
/// The share of the process's file descriptors that guests may hold together, as a divisor:
/// with half of them left, the server can still accept connections and open its database.
pub(super) const GUEST_SHARE: u64 = 2;
/// File descriptors that guests share where the system names no limit.
pub(super) const FALLBACK_DESCRIPTORS: u64 = 65_536;
/// Bytes of a path, Linux's PATH_MAX.
pub(super) const MAX_PATH_BYTES: usize = 4_096;
/// Bytes of one component of a path, Linux's NAME_MAX.
pub(super) const MAX_NAME_BYTES: usize = 255;
/// Components of a path. Where the kernel can't resolve a whole path beneath a folder, each
/// component costs a descriptor while it is resolved.
pub(super) const MAX_COMPONENTS: usize = 64;
/// Files, folders and links that one call may make in one folder, so that a call can't use up
/// the inodes of a disk with files that count no bytes.
pub(super) const MAX_CREATED: u64 = 4_096;
/// Bytes of one `read`; a guest that wants more reads again.
pub(super) const MAX_READ_BYTES: u64 = 1 << 20;
/// Bytes of one `write`; the guest learns how many were written.
pub(super) const MAX_WRITE_BYTES: usize = 1 << 20;
/// Bytes that a stream reads or writes at once.
pub(super) const STREAM_CHUNK: usize = 64 << 10;
/// Entries of a folder that are read at once, so that a listing of a million is never held.
pub(super) const LISTING_BATCH: usize = 64;
/// Bytes of a path as receipts show it. Descriptors keep it, so its length must not add up
/// through nested folders.
pub(super) const MAX_LABEL_BYTES: usize = 256;
