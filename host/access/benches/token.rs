//! What every request of a signed-in user costs before anything else: the check of its token.

use std::hint::black_box;

use bulkhead_access::{TokenKey, token};
use bulkhead_domain::{
    Timestamp,
    platform::{Session, UserId},
};
use criterion::{Criterion, criterion_main};

fn tokens(criterion: &mut Criterion) {
    let key = TokenKey::new([7; token::KEY_BYTES].into());
    let now = Timestamp::now();
    let session = Session::new(UserId::random(), token::refresh_expires_at(now));
    let access = key.access_token(&session, now);
    criterion.bench_function("token/check", |bencher| {
        bencher.iter(|| key.check_access(black_box(&access), now));
    });
    let other = TokenKey::new([8; token::KEY_BYTES].into());
    criterion.bench_function("token/check_forged", |bencher| {
        bencher.iter(|| other.check_access(black_box(&access), now));
    });
    criterion.bench_function("token/issue", |bencher| {
        bencher.iter(|| key.access_token(black_box(&session), now));
    });
}

/// The groups, whose function the macro makes without documentation.
mod groups {
    #![allow(missing_docs, reason = "the macro's function has none")]

    criterion::criterion_group!(benches, super::tokens);
}

criterion_main!(groups::benches);
