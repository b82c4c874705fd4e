use std::time::Duration;

use bulkhead_domain::{
    Denial, Digest, FuelByPhase, HostCall, HostCallOutcome, Outcome, Receipt, Timestamp,
    id::{CallId, ReceiptId},
};
use bulkhead_store::{ReceiptFilter, StoreError};

use super::raw;

/// A receipt of a call that arrived at this time.
pub(crate) fn receipt(at: i64) -> Receipt {
    let host_call = HostCall {
        interface: "http".to_owned(),
        function: "fetch".to_owned(),
        target: Some("GET https://example.com".to_owned()),
        bytes_in: 120,
        bytes_out: 4096,
        outcome: HostCallOutcome::Ok,
        wall_us: 900,
    };
    Receipt {
        id: ReceiptId::random(),
        call_id: CallId::random(),
        idempotency_key: "key".to_owned(),
        digest: Digest::of(b"component"),
        source: None,
        tool: "fetch".to_owned(),
        agent_id: None,
        input_hash: Digest::of(b"input"),
        grant_hash: Digest::of(b"grant"),
        output_hash: Some(Digest::of(b"output")),
        outcome: Outcome::Ok,
        detail: None,
        fuel: FuelByPhase {
            instantiate: 10,
            call: 100,
        },
        peak_memory_bytes: 1 << 20,
        wall_us: 60,
        queue_us: 1,
        started_at: Timestamp::from_micros(at),
        host_calls: vec![host_call],
        host_calls_omitted: 0,
        denials: vec![Denial {
            capability: "http".to_owned(),
            message: "no".to_owned(),
        }],
    }
}

on_both! {
    async fn receipts_read_back_as_they_were_put(database) {
        let store = database.open().await;
        // More than one chunk of each size.
        let receipts: Vec<_> = (0..150).map(receipt).collect();
        store.put_receipts(&receipts).await.unwrap();
        for receipt in [&receipts[0], &receipts[64], &receipts[149]] {
            assert_eq!(store.receipt(&receipt.id).await.unwrap().as_ref(), Some(receipt));
        }
        assert_eq!(store.receipt(&ReceiptId::random()).await.unwrap(), None);
        store.put_receipts(&[]).await.unwrap();
        let all = ReceiptFilter { limit: Some(5000), ..Default::default() };
        let newest_first: Vec<_> = receipts.into_iter().rev().collect();
        assert_eq!(store.receipts(&all).await.unwrap(), newest_first);
    }

    async fn receipts_are_found_by_every_filter_and_by_all_at_once(database) {
        let store = database.open().await;
        let plain = receipt(10);
        let other = Receipt { digest: Digest::of(b"other"), ..receipt(20) };
        let search = Receipt { tool: "search".to_owned(), ..receipt(30) };
        let agent = Receipt { agent_id: Some("agent-1".to_owned()), ..receipt(40) };
        let denied = Receipt { outcome: Outcome::Denied, ..receipt(50) };
        let both = Receipt {
            agent_id: Some("agent-1".to_owned()),
            outcome: Outcome::Denied,
            ..receipt(60)
        };
        store.put_receipts(&[plain, other, search, agent, denied, both]).await.unwrap();
        let found = async |filter: ReceiptFilter| {
            let found = store.receipts(&filter).await.unwrap();
            found.iter().map(|receipt| receipt.started_at.micros()).collect::<Vec<_>>()
        };
        let none = ReceiptFilter::default();
        let agent_id = Some("agent-1".to_owned());
        let time = |at| Some(Timestamp::from_micros(at));
        assert_eq!(found(none.clone()).await, [60, 50, 40, 30, 20, 10]);
        let digest = Some(Digest::of(b"other"));
        assert_eq!(found(ReceiptFilter { digest, ..none.clone() }).await, [20]);
        let tool = Some("search".to_owned());
        assert_eq!(found(ReceiptFilter { tool, ..none.clone() }).await, [30]);
        let by_agent = ReceiptFilter { agent_id: agent_id.clone(), ..none.clone() };
        assert_eq!(found(by_agent).await, [60, 40]);
        let outcome = Some(Outcome::Denied);
        assert_eq!(found(ReceiptFilter { outcome, ..none.clone() }).await, [60, 50]);
        let between = ReceiptFilter { since: time(20), until: time(40), ..none };
        assert_eq!(found(between).await, [30, 20], "since is included, until is not");
        let all = ReceiptFilter {
            digest: Some(Digest::of(b"component")),
            tool: Some("fetch".to_owned()),
            agent_id,
            outcome,
            since: time(60),
            until: time(61),
            limit: Some(1),
            after: None,
        };
        assert_eq!(found(all).await, [60]);
    }

    async fn pages_of_receipts_hold_each_once_also_at_equal_times(database) {
        let store = database.open().await;
        let receipts: Vec<_> = (0..50).map(|number| receipt(number / 20)).collect();
        store.put_receipts(&receipts).await.unwrap();
        let mut seen = Vec::new();
        let mut filter = ReceiptFilter { limit: Some(7), ..Default::default() };
        loop {
            let page = store.receipts(&filter).await.unwrap();
            let Some(last) = page.last() else { break };
            filter.after = Some(last.id);
            seen.extend(page.iter().map(|receipt| (receipt.started_at, receipt.id.to_string())));
            // What is new does not shift the pages that follow.
            store.put_receipts(&[receipt(99)]).await.unwrap();
        }
        let mut expected: Vec<_> =
            receipts.iter().map(|receipt| (receipt.started_at, receipt.id.to_string())).collect();
        expected.sort();
        expected.reverse();
        assert_eq!(seen, expected);
        filter.after = Some(ReceiptId::random());
        let error = store.receipts(&filter).await.unwrap_err();
        assert!(matches!(error, StoreError::NotFound { .. }), "{error:?}");
    }

    async fn a_batch_that_is_sent_again_is_stored_once(database) {
        let store = database.open().await;
        let first = receipt(1);
        store.put_receipts(std::slice::from_ref(&first)).await.unwrap();
        let changed = Receipt { tool: "changed".to_owned(), ..first.clone() };
        store.put_receipts(&[changed.clone(), receipt(2), changed]).await.unwrap();
        let all = store.receipts(&ReceiptFilter::default()).await.unwrap();
        assert_eq!((all.len(), &all[1]), (2, &first));
    }

    async fn a_tool_of_any_name_has_its_receipt(database) {
        let store = database.open().await;
        for tool in ["", "a\0b", &"ä".repeat(2000)] {
            let receipt = Receipt { tool: tool.to_owned(), ..receipt(1) };
            store.put_receipts(std::slice::from_ref(&receipt)).await.unwrap();
            assert_eq!(store.receipt(&receipt.id).await.unwrap(), Some(receipt));
            let filter = ReceiptFilter { tool: Some(tool.to_owned()), ..Default::default() };
            assert_eq!(store.receipts(&filter).await.unwrap().len(), 1, "{tool:?}");
        }
    }

    async fn a_batch_that_is_cut_off_is_there_as_a_whole_or_not_at_all(database) {
        const BATCH: usize = 300;
        let store = database.open().await;
        for after in 0..30 {
            let receipts: Vec<_> = (0..BATCH).map(|_| receipt(after)).collect();
            let put = store.put_receipts(&receipts);
            tokio::time::timeout(Duration::from_micros(after.unsigned_abs() * 400), put)
                .await
                .ok();
        }
        // The store goes on after each.
        store.put_receipts(&(0..BATCH).map(|_| receipt(99)).collect::<Vec<_>>()).await.unwrap();
        let groups = "SELECT COUNT(*) FROM (SELECT started_at FROM receipts
            GROUP BY started_at HAVING COUNT(*) <> 300) AS partial";
        assert_eq!(raw::number(&database, groups).await, 0);
        let last = raw::number(&database, "SELECT COUNT(*) FROM receipts WHERE started_at = 99");
        assert_eq!(last.await, 300);
    }

    async fn old_receipts_and_those_beyond_the_number_to_keep_are_pruned(database) {
        let store = database.open().await;
        // More than one transaction deletes, and equal times.
        let receipts: Vec<_> = (0..5000).map(|number| receipt(number / 10)).collect();
        for batch in receipts.chunks(1000) {
            store.put_receipts(batch).await.unwrap();
        }
        let older_than = Some(Timestamp::from_micros(250));
        assert_eq!(store.prune_receipts(older_than, None).await.unwrap(), 2500);
        assert_eq!(store.prune_receipts(older_than, None).await.unwrap(), 0);
        assert_eq!(store.prune_receipts(None, Some(15)).await.unwrap(), 2485);
        assert_eq!(store.prune_receipts(None, Some(15)).await.unwrap(), 0);
        let mut expected: Vec<_> =
            receipts.iter().map(|receipt| (receipt.started_at, receipt.id.to_string())).collect();
        expected.sort();
        expected.reverse();
        let left = store.receipts(&ReceiptFilter::default()).await.unwrap();
        let left: Vec<_> =
            left.iter().map(|receipt| (receipt.started_at, receipt.id.to_string())).collect();
        assert_eq!(left, expected[..15], "the newest are kept");
        assert_eq!(store.prune_receipts(None, Some(0)).await.unwrap(), 15);
    }
}
