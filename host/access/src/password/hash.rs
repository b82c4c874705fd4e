//! Hashes of passwords: Argon2id, written as PHC strings (`$argon2id$v=19$m=…,t=…,p=…$salt$hash`).

use argon2::{
    Algorithm, Argon2, Params, PasswordHash, PasswordHasher as _, PasswordVerifier as _, Version,
    password_hash::{
        self,
        phc::{Output, ParamsString, Salt},
    },
};

use super::{Password, PasswordError, Weakness};

/// Memory of one computation, in KiB; with [`PASSES`] and [`LANES`] what OWASP asks for at least.
const MEMORY_KIB: u32 = 19 << 10;
/// Passes over the memory.
const PASSES: u32 = 2;
/// Lanes that could be computed at once; a pool of threads has other work for them.
const LANES: u32 = 1;
/// Bytes of a salt, as the PHC format recommends.
const SALT_BYTES: usize = 16;
/// Bytes of a hash: nobody finds two passwords with one.
const HASH_BYTES: usize = 32;
/// What a stored hash may ask for, in KiB and passes. No row of the database takes the machine's
/// memory, whoever wrote it.
const STORED_MEMORY_KIB_MAX: u32 = 256 << 10;
const STORED_PASSES_MAX: u32 = 16;

const PARAMS: Params = match Params::new(MEMORY_KIB, PASSES, LANES, Some(HASH_BYTES)) {
    Ok(params) => params,
    Err(_) => panic!("Argon2 has no such parameters"),
};

/// What a comparison found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The password is the one that was hashed.
    Right,
    /// It is, but its hash was made with other parameters than today's: store a new one, from
    /// [`super::Passwords::hash`].
    RightButOutdated,
    /// It is another one, or there is nobody whose it could be.
    Wrong,
}

fn argon2() -> Argon2<'static> {
    Argon2::new(Algorithm::Argon2id, Version::V0x13, PARAMS)
}

/// The hash of a password, with a salt of its own.
pub(super) fn hash(password: &Password) -> Result<String, PasswordError> {
    if password.is_too_long {
        return Err(Weakness::TooLong.into());
    }
    let mut salt = [0; SALT_BYTES];
    getrandom::fill(&mut salt)?;
    let hash = argon2().hash_password_with_salt(password.bytes(), &salt);
    Ok(hash.map_err(|_| PasswordError::Failed)?.to_string())
}

/// A hash that no password has, as far as anybody can tell: random bytes. To compare with it takes as
/// long as with a real one.
pub(super) fn decoy() -> Result<String, PasswordError> {
    let (mut salt, mut output) = ([0; SALT_BYTES], [0; HASH_BYTES]);
    getrandom::fill(&mut salt)?;
    getrandom::fill(&mut output)?;
    let failed = |_| PasswordError::Failed;
    let hash = PasswordHash {
        algorithm: Algorithm::Argon2id.ident(),
        version: Some(Version::V0x13.into()),
        params: ParamsString::try_from(&PARAMS).map_err(|_| PasswordError::Failed)?,
        salt: Some(Salt::new(&salt).map_err(failed)?),
        hash: Some(Output::new(&output).map_err(failed)?),
    };
    Ok(hash.to_string())
}

/// Compares a password with a stored hash.
pub(super) fn verify(stored: &str, password: &Password) -> Result<Verdict, PasswordError> {
    let stored = PasswordHash::new(stored).map_err(|_| PasswordError::Stored)?;
    let params = Params::try_from(&stored).map_err(|_| PasswordError::Stored)?;
    let is_whole = stored.salt.is_some() && stored.hash.is_some();
    if !is_whole
        || params.m_cost() > STORED_MEMORY_KIB_MAX
        || params.t_cost() > STORED_PASSES_MAX
        // Without threads of their own, lanes cost no more than passes.
        || params.p_cost() > STORED_PASSES_MAX
    {
        return Err(PasswordError::Stored);
    }
    match argon2().verify_password(password.bytes(), &stored) {
        // What stands for a password that is too long is no password.
        Ok(()) if password.is_too_long => Ok(Verdict::Wrong),
        Ok(()) if is_outdated(&stored, &params) => Ok(Verdict::RightButOutdated),
        Ok(()) => Ok(Verdict::Right),
        Err(password_hash::Error::PasswordInvalid) => Ok(Verdict::Wrong),
        Err(password_hash::Error::OutOfMemory) => Err(PasswordError::Failed),
        Err(_) => Err(PasswordError::Stored),
    }
}

fn is_outdated(stored: &PasswordHash, params: &Params) -> bool {
    let costs = |params: &Params| (params.m_cost(), params.t_cost(), params.p_cost());
    let bytes = stored.hash.as_ref().map_or(0, |hash| hash.len());
    stored.algorithm != Algorithm::Argon2id.ident()
        || stored.version != Some(Version::V0x13.into())
        || costs(params) != costs(&PARAMS)
        || bytes != HASH_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_fits_its_password_alone_and_no_two_are_alike() {
        let password = Password::new("correct horse battery");
        let first = hash(&password).unwrap();
        assert!(
            first.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"),
            "{first}"
        );
        assert_ne!(first, hash(&password).unwrap());
        assert_eq!(verify(&first, &password).unwrap(), Verdict::Right);
        for other in ["correct horse batterz", "correct horse battery ", ""] {
            let verdict = verify(&first, &Password::new(other)).unwrap();
            assert_eq!(verdict, Verdict::Wrong, "{other:?}");
        }
    }

    #[test]
    fn a_hash_with_other_parameters_fits_and_is_outdated() {
        let password = Password::new("correct horse battery");
        let cheaper = Params::new(64, 1, 1, Some(HASH_BYTES)).unwrap();
        for (algorithm, params) in [(Algorithm::Argon2id, cheaper), (Algorithm::Argon2i, PARAMS)] {
            let stored = Argon2::new(algorithm, Version::V0x13, params)
                .hash_password_with_salt(password.bytes(), &[7; SALT_BYTES])
                .unwrap()
                .to_string();
            let verdict = verify(&stored, &password).unwrap();
            assert_eq!(verdict, Verdict::RightButOutdated, "{stored}");
            let wrong = verify(&stored, &Password::new("incorrect")).unwrap();
            assert_eq!(wrong, Verdict::Wrong);
        }
    }

    #[test]
    fn what_is_no_hash_of_ours_is_told_and_not_computed() {
        let salt_and_hash = "c29tZXNhbHRzb21lc2FsdA$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";
        for stored in [
            String::new(),
            "secret".to_owned(),
            "$argon2id$v=19$m=19456,t=2,p=1".to_owned(),
            "$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA".to_owned(),
            format!("$argon2id$v=19$m=4194304,t=2,p=1${salt_and_hash}"),
            format!("$argon2id$v=19$m=19456,t=4000000,p=1${salt_and_hash}"),
            format!("$argon2id$v=19$m=262144,t=1,p=4000${salt_and_hash}"),
            format!("$scrypt$v=19$m=19456,t=2,p=1${salt_and_hash}"),
        ] {
            let verdict = verify(&stored, &Password::new("secret"));
            assert!(
                matches!(verdict, Err(PasswordError::Stored)),
                "{stored}: {verdict:?}"
            );
        }
    }

    #[test]
    fn the_decoy_costs_what_a_hash_costs_and_fits_nothing() {
        let decoy = decoy().unwrap();
        let real = hash(&Password::new("correct horse battery")).unwrap();
        let head = |text: &str| text.rsplitn(3, '$').last().map(str::to_owned);
        assert_eq!(head(&decoy), head(&real));
        assert_eq!(decoy.len(), real.len());
        assert_eq!(verify(&decoy, &Password::new("")).unwrap(), Verdict::Wrong);
    }

    #[test]
    fn a_password_that_is_too_long_is_nobodys() {
        let endless = Password::new("x".repeat(1 << 20));
        assert!(matches!(
            hash(&endless),
            Err(PasswordError::Weak(Weakness::TooLong))
        ));
        let empty = hash(&Password::new("")).unwrap();
        assert_eq!(verify(&empty, &endless).unwrap(), Verdict::Wrong);
    }
}
