use std::net::Ipv4Addr;

use super::*;

const ADA: &str = "ada@example.com";
const HERE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));

/// The n-th of many addresses.
fn elsewhere(n: u32) -> IpAddr {
    Ipv4Addr::from_bits(0x0a00_0000 + n).into()
}

fn wrong(throttle: &Throttle, account: &str, from: IpAddr, now: Instant) -> Result<(), Refused> {
    throttle.attempt(account, from, now).map(drop)
}

#[test]
fn an_account_is_tried_ten_times_and_then_once_in_a_while() {
    let (throttle, now) = (Throttle::new(), Instant::now());
    for _ in 0..PER_PAIR {
        assert_eq!(wrong(&throttle, ADA, HERE, now), Ok(()));
    }
    let refused = wrong(&throttle, ADA, HERE, now).unwrap_err();
    assert_eq!(refused.retry_after, WINDOW / PER_PAIR);
    assert_eq!(refused.seconds(), 90);
    // What is refused makes nothing worse.
    assert_eq!(wrong(&throttle, ADA, HERE, now), Err(refused));
    assert_eq!(wrong(&throttle, "bob@example.com", HERE, now), Ok(()));
    assert_eq!(wrong(&throttle, ADA, elsewhere(1), now), Ok(()));
    let soon = now + refused.retry_after;
    assert!(wrong(&throttle, ADA, HERE, soon - Duration::from_millis(1)).is_err());
    assert_eq!(wrong(&throttle, ADA, HERE, soon), Ok(()));
    assert!(wrong(&throttle, ADA, HERE, soon).is_err());
    let fresh = soon + WINDOW;
    for _ in 0..PER_PAIR {
        assert_eq!(wrong(&throttle, ADA, HERE, fresh), Ok(()));
    }
    assert!(wrong(&throttle, ADA, HERE, fresh).is_err());
}

#[test]
fn a_network_tries_many_accounts_until_its_own_limit() {
    let (throttle, now) = (Throttle::new(), Instant::now());
    for n in 0..PER_NETWORK {
        let account = format!("user{n}@example.com");
        assert_eq!(wrong(&throttle, &account, HERE, now), Ok(()));
    }
    assert!(wrong(&throttle, "another@example.com", HERE, now).is_err());
    let entries = throttle.state.lock().pairs.len();
    assert_eq!(
        entries, PER_NETWORK as usize,
        "who is refused leaves nothing"
    );
    assert_eq!(
        wrong(&throttle, "another@example.com", elsewhere(1), now),
        Ok(())
    );
}

#[test]
fn who_succeeds_may_do_so_as_often_as_they_like() {
    let (throttle, now) = (Throttle::new(), Instant::now());
    for _ in 0..2 * PER_NETWORK {
        let attempt = throttle.attempt(ADA, HERE, now).unwrap();
        throttle.succeeded(attempt);
    }
    // Success gives back its own try only.
    for _ in 0..PER_PAIR {
        assert_eq!(wrong(&throttle, ADA, HERE, now), Ok(()));
    }
    assert!(wrong(&throttle, ADA, HERE, now).is_err());
}

#[test]
fn as_many_as_sign_in_at_once_are_let_in() {
    let (throttle, now) = (Throttle::new(), Instant::now());
    let attempts: Vec<_> = (0..PER_NETWORK)
        .map(|n| throttle.attempt(&format!("user{n}@example.com"), HERE, now))
        .collect();
    for attempt in attempts {
        throttle.succeeded(attempt.unwrap());
    }
    assert_eq!(wrong(&throttle, ADA, HERE, now), Ok(()));
}

#[test]
fn many_machines_that_guess_hold_up_neither_who_is_known_nor_other_accounts() {
    let (throttle, now) = (Throttle::new(), Instant::now());
    throttle.succeeded(throttle.attempt(ADA, HERE, now).unwrap());
    for n in 0..PER_ACCOUNT {
        assert_eq!(wrong(&throttle, ADA, elsewhere(n), now), Ok(()));
    }
    assert!(wrong(&throttle, ADA, elsewhere(PER_ACCOUNT), now).is_err());
    assert_eq!(wrong(&throttle, ADA, HERE, now), Ok(()));
    assert_eq!(
        wrong(&throttle, "bob@example.com", elsewhere(0), now),
        Ok(())
    );
}

#[test]
fn a_try_that_was_not_looked_at_is_given_back() {
    let (throttle, now) = (Throttle::new(), Instant::now());
    for _ in 0..3 * PER_NETWORK {
        throttle.withdrawn(throttle.attempt(ADA, HERE, now).unwrap());
    }
    assert!(
        !throttle
            .state
            .lock()
            .pairs
            .is_trusted(&(throttle.hasher.hash_one(ADA), HERE,))
    );
}

#[test]
fn a_customers_ipv6_addresses_are_one_and_a_mapped_ipv4_address_is_itself() {
    let (throttle, now) = (Throttle::new(), Instant::now());
    for n in 0..PER_PAIR {
        let from = format!("2001:db8:1:2::{n:x}").parse().unwrap();
        assert_eq!(wrong(&throttle, ADA, from, now), Ok(()));
    }
    let same = "2001:db8:1:2:ffff::1".parse().unwrap();
    assert!(wrong(&throttle, ADA, same, now).is_err());
    let neighbour = "2001:db8:1:3::1".parse().unwrap();
    assert_eq!(wrong(&throttle, ADA, neighbour, now), Ok(()));
    assert_eq!(network("::ffff:192.0.2.1".parse().unwrap()), HERE);
}

#[test]
fn entries_are_bounded_and_the_longest_unused_goes_first() {
    let (throttle, now) = (Throttle::with_entries(10), Instant::now());
    for _ in 0..PER_PAIR {
        assert_eq!(wrong(&throttle, ADA, HERE, now), Ok(()));
    }
    for n in 0..9 {
        assert_eq!(wrong(&throttle, ADA, elsewhere(n), now), Ok(()));
    }
    assert!(wrong(&throttle, ADA, HERE, now).is_err(), "it still fits");
    for n in 9..500 {
        let account = format!("user{n}@example.com");
        assert_eq!(wrong(&throttle, &account, elsewhere(n), now), Ok(()));
    }
    let state = throttle.state.lock();
    let lengths = [
        state.pairs.len(),
        state.networks.len(),
        state.accounts.len(),
    ];
    drop(state);
    assert_eq!(lengths, [10; 3]);
    assert_eq!(wrong(&throttle, ADA, HERE, now), Ok(()), "it was forgotten");
}

#[test]
fn a_time_from_before_and_a_late_answer_do_no_harm() {
    let (throttle, now) = (Throttle::new(), Instant::now() + WINDOW);
    let attempt = throttle.attempt(ADA, HERE, now).unwrap();
    assert_eq!(
        wrong(&throttle, ADA, HERE, now - Duration::from_secs(1)),
        Ok(())
    );
    throttle.succeeded(attempt);
    let later = now + 10 * WINDOW;
    let attempt = throttle.attempt(ADA, HERE, later).unwrap();
    throttle.withdrawn(attempt);
    for _ in 0..PER_PAIR {
        assert_eq!(wrong(&throttle, ADA, HERE, later), Ok(()));
    }
    assert!(wrong(&throttle, ADA, HERE, later).is_err());
}
