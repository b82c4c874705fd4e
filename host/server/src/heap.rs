//! The memory that this process holds without using it.

/// Gives free memory back to the system. The allocator keeps what a burst of work has left in its
/// arenas for as long as the process runs: 20 MB of the 66 that a server had after its start were
/// garbage of making the API's document, and compiling a component leaves more. Takes some
/// milliseconds; the allocator's locks are held arena by arena.
pub(crate) fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // glibc's, of any version: malloc_trim(3). It takes any padding and touches nothing in use.
        #[allow(unsafe_code, reason = "declares a function of the C library")]
        unsafe extern "C" {
            safe fn malloc_trim(pad: usize) -> std::ffi::c_int;
        }
        let _ = malloc_trim(0);
    }
}
