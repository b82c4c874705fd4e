//! Files of folders: what is taken, and what becomes of it.

use serde_json::json;

use super::{completed, folder, upload, upload_request, uploaded};
use crate::{
    both::on_both,
    clients::{detail, each, read, text},
    support::{Answer, TestServer},
};

on_both! {
    async fn an_uploaded_text_can_be_read_and_searched(server) {
        let docs = folder(&server, "docs").await;
        let content = (1..=30).map(|n| format!("line {n} of the file\n")).collect::<String>();
        let path = format!("/v1/folders/{docs}/upload");
        let answer = upload(&server, &path, "t.md", content.as_bytes()).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        for (field, expected) in [
            ("file_name", json!("docs/t.md")), ("original_file_name", json!("t.md")),
            ("file_type", json!("text/markdown")), ("file_size", json!(content.len())),
            ("source_id", json!(docs)), ("processing_status", json!("pending")), ("content", json!(null)),
        ] {
            assert_eq!(answer.body[field], expected, "{field}");
        }
        let id = text(&answer.body["id"]).to_owned();
        let file = completed(&server, &docs, &id).await;
        assert_eq!((&file["file_name"], &file["error_message"]), (&json!("t.md"), &json!(null)));
        assert!(file["total_chunks"].as_u64().unwrap() > 1, "{file}");
        assert_eq!(file["total_chunks"], file["chunks_embedded"]);
        let with = format!("/v1/folders/{docs}/files/{id}?include_content=true");
        assert_eq!(read(&server, &with).await["content"], json!(content));
        let passages = read(&server, &format!("/v1/folders/{docs}/passages?order=asc")).await;
        assert_eq!(each(&passages, "text").concat(), content);
        for (field, expected) in [
            ("file_id", json!(id)), ("source_id", json!(docs)), ("archive_id", json!(null)),
            ("file_name", json!("docs/t.md")), ("embedding", json!(null)),
        ] {
            assert_eq!(passages[0][field], expected, "{field}");
        }
        let deleted = server.delete(&format!("/v1/folders/{docs}/{id}")).await;
        assert_eq!((deleted.status.as_u16(), deleted.text.as_str()), (204, ""));
        assert_eq!(server.delete(&format!("/v1/folders/{docs}/{id}")).await.status, 404);
        assert_eq!(read(&server, &format!("/v1/folders/{docs}/passages")).await, json!([]));
    }

    async fn what_happens_to_a_taken_name_is_the_clients_choice(server) {
        let docs = folder(&server, "docs").await;
        let first = uploaded(&server, &docs, "t.txt", "one").await;
        let path = |more: &str| format!("/v1/folders/{docs}/upload?duplicate_handling={more}");
        let numbered = upload(&server, &format!("/v1/folders/{docs}/upload"), "t.txt", b"two").await;
        assert_eq!(numbered.body["file_name"], "docs/t_(1).txt");
        let refused = upload(&server, &path("error"), "t.txt", b"two").await;
        let expected = "INVALID_ARGUMENT: File 't.txt' already exists in folder 'docs'";
        assert_eq!(detail(&refused), (400, expected));
        let skipped = upload(&server, &path("skip"), "t.txt", b"two").await;
        assert_eq!(skipped.body["id"], json!(first));
        let replaced = upload(&server, &path("replace"), "t.txt", b"two").await;
        assert_eq!(replaced.status, 200, "{replaced:?}");
        assert_ne!(replaced.body["id"], json!(first));
        let named = upload(&server, &path("suffix&name=other"), "t.txt", b"two").await;
        let names = (&named.body["file_name"], &named.body["original_file_name"]);
        assert_eq!(names, (&json!("docs/other.txt"), &json!("t.txt")));
        let files = read(&server, &format!("/v1/folders/{docs}/files")).await;
        assert_eq!(each(&files, "file_name"), ["other.txt", "t.txt", "t_(1).txt"]);
        assert_eq!(upload(&server, &path("never"), "t.txt", b"two").await.status, 422);
    }

    async fn files_that_a_server_left_are_read_by_the_next_one(server) {
        let mut server = server;
        let docs = folder(&server, "docs").await;
        let mut ids = Vec::new();
        for n in 0..5 {
            let path = format!("/v1/folders/{docs}/upload");
            // Reading one takes several times as long as uploading it.
            let large = "some words in a line\n".repeat(60_000);
            let answer = upload(&server, &path, &format!("{n}.txt"), large.as_bytes()).await;
            ids.push(text(&answer.body["id"]).to_owned());
        }
        server.restart().await;
        let mut pending = 0;
        for id in ids {
            let path = format!("/v1/folders/{docs}/files/{id}");
            let status = read(&server, &path).await["processing_status"].clone();
            pending += usize::from(status != "completed");
            // On a shared database somebody else may be at the one that was begun.
            if status != "parsing" {
                assert_eq!(completed(&server, &docs, &id).await["processing_status"], "completed");
            }
        }
        assert!(pending > 0, "the next server has something to read");
    }
}

#[tokio::test]
async fn what_is_no_text_is_refused_in_the_words_of_the_contract() {
    let server = TestServer::start().await;
    let docs = folder(&server, "docs").await;
    let path = format!("/v1/folders/{docs}/upload");
    for (name, bytes, media_type) in [
        ("a.png", &b"\x89PNG"[..], "application/octet-stream"),
        ("a.pdf", b"%PDF-1.7", "application/pdf"),
    ] {
        let refused = upload(&server, &path, name, bytes).await;
        let expected = format!(
            "Unsupported file type: {media_type} (filename: {name}). Supported types: PDF, text files \
             (.txt, .md), JSON, and code files (.py, .js, .java, etc.)."
        );
        assert_eq!(detail(&refused), (415, expected.as_str()));
    }
    for (name, bytes) in [
        ("a.txt", &b"\xff\xfe\x00"[..]),
        ("b.txt", b"a\0b"),
        ("..", b"a"),
    ] {
        let refused = upload(&server, &path, name, bytes).await;
        assert_eq!(refused.status, 400, "{name}: {refused:?}");
    }
    for (body, status) in [
        ("no form at all", 400),
        ("--a-line-between-parts--\r\n", 422),
    ] {
        let request = upload_request(&server, &path, "a.txt", b"text").body(body);
        let refused = Answer::read(request.send().await.unwrap()).await;
        assert_eq!(detail(&refused).0, status, "{refused:?}");
    }
    let json = server.post(&path, &json!({})).await;
    assert_eq!(json.status, 415, "{json:?}");
    let nowhere = "/v1/folders/source-00000000-0000-4000-8000-000000000000/upload";
    assert_eq!(upload(&server, nowhere, "a.txt", b"a").await.status, 404);
    let files = read(&server, &format!("/v1/folders/{docs}/files")).await;
    assert_eq!(files, json!([]));
}

#[tokio::test]
async fn a_file_that_is_too_large_is_refused() {
    let server = TestServer::start().await;
    let docs = folder(&server, "docs").await;
    let path = format!("/v1/folders/{docs}/upload");
    for size in [(32 << 20) + 1, 34 << 20] {
        let refused = upload(&server, &path, "a.txt", &vec![b'a'; size]).await;
        assert_eq!(refused.refusal(), (413, "body_too_large"));
    }
    let taken = upload(&server, &path, "a.txt", &vec![b'a'; 32 << 20]).await;
    assert_eq!(
        (taken.status.as_u16(), &taken.body["file_size"]),
        (200, &json!(32 << 20))
    );
}
