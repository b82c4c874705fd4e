use std::time::Duration;

use bulkhead_domain::Receipt;
use bulkhead_store::{ReceiptFilter, ReceiptWriter, StoreError, receipt_writer};

use super::{raw, receipt::receipt};

const COUNT: &str = "SELECT COUNT(*) FROM receipts";

on_both! {
    async fn what_was_written_before_a_flush_is_committed_after_it(database) {
        let store = database.open().await;
        let writer = ReceiptWriter::start(store.clone());
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..8 {
            let writer = writer.clone();
            tasks.spawn(async move {
                for number in 0..100 {
                    writer.write(receipt(number)).await.unwrap();
                }
                writer.flush().await.unwrap();
            });
        }
        while let Some(done) = tasks.join_next().await {
            done.unwrap();
        }
        assert_eq!(raw::number(&database, COUNT).await, 800);
        writer.flush().await.unwrap();
    }

    async fn receipts_are_committed_soon_without_a_flush(database) {
        let store = database.open().await;
        let writer = ReceiptWriter::start(store.clone());
        let written = receipt(1);
        writer.write(written.clone()).await.unwrap();
        let stored = async {
            while store.receipt(&written.id).await.unwrap().is_none() {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), stored).await.unwrap();
    }

    async fn closing_writes_what_is_queued_and_refuses_what_follows(database) {
        let store = database.open().await;
        let writer = ReceiptWriter::start(store.clone());
        for number in 0..1000 {
            writer.write(receipt(number)).await.unwrap();
        }
        writer.close().await;
        assert_eq!(raw::number(&database, COUNT).await, 1000);
        let error = writer.write(receipt(1)).await.unwrap_err();
        assert!(matches!(error, StoreError::Closed), "{error:?}");
        let error = writer.flush().await.unwrap_err();
        assert!(matches!(error, StoreError::Closed), "{error:?}");
        writer.close().await;
    }

    async fn dropping_the_writer_still_writes_what_is_queued(database) {
        let store = database.open().await;
        let writer = ReceiptWriter::start(store.clone());
        for number in 0..100 {
            writer.write(receipt(number)).await.unwrap();
        }
        drop(writer);
        let stored = async {
            while raw::number(&database, COUNT).await < 100 {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), stored).await.unwrap();
    }

    async fn one_receipt_that_cannot_be_stored_does_not_cost_the_others(database) {
        let store = database.open().await;
        let writer = ReceiptWriter::start(store.clone());
        let huge = Receipt { detail: Some("x".repeat(9 << 20)), ..receipt(5) };
        for receipt in [receipt(1), huge, receipt(9)] {
            writer.write(receipt).await.unwrap();
        }
        let error = writer.flush().await.unwrap_err();
        assert!(matches!(error, StoreError::Lost { count: 1 }), "{error:?}");
        writer.flush().await.unwrap();
        let left = store.receipts(&ReceiptFilter::default()).await.unwrap();
        let left: Vec<_> = left.iter().map(|receipt| receipt.started_at.micros()).collect();
        assert_eq!(left, [9, 1]);
    }

    async fn a_full_queue_makes_the_callers_wait_and_loses_nothing(database) {
        let store = database.open().await;
        let writer = ReceiptWriter::start(store.clone());
        let total = receipt_writer::QUEUE_MAX * 2;
        for number in 0..total {
            writer.write(receipt(number as i64)).await.unwrap();
        }
        writer.close().await;
        assert_eq!(raw::number(&database, COUNT).await, total as i64);
    }
}
