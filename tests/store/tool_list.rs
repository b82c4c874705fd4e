use bulkhead_store::{
    NewTool, PAGE_MAX, Store, StoreError, ToolFilter, ToolRecord, ToolType,
    testing::TestDatabase,
    tool::{FILTER_LIST_MAX, PAGE_BYTES_MAX, limits},
};

use super::tool::custom;

const ROWS: usize = 120;

/// The names that a filter finds, in the list's order; counted too.
async fn found(store: &Store, filter: &ToolFilter) -> Vec<String> {
    let tools = store.tools(filter).await.unwrap();
    assert_eq!(store.count_tools(filter).await.unwrap(), tools.len() as u64);
    tools.into_iter().map(|tool| tool.name).collect()
}

/// 120 tools, three of them made at each moment, the oldest first, and by id where that ties.
async fn many(database: &TestDatabase, store: &Store) -> Vec<ToolRecord> {
    for number in 0..ROWS {
        store
            .upsert_tool(custom(&format!("tool {number}")))
            .await
            .unwrap();
    }
    let tie = "UPDATE tools SET created_at = CAST(substr(name, 6) AS BIGINT) / 3";
    database.script(tie).await;
    let all = ToolFilter {
        ascending: true,
        limit: Some(PAGE_MAX),
        ..Default::default()
    };
    let all = store.tools(&all).await.unwrap();
    let key = |tool: &ToolRecord| (tool.created_at, tool.id.clone());
    assert!(all.is_sorted_by_key(key));
    assert_eq!(all.len(), ROWS);
    all
}

on_both! {
    async fn tools_are_found_by_every_filter_and_by_all_together(database) {
        let store = database.open().await;
        let mut ids = Vec::new();
        for (name, tool_type) in [
            ("send_message", ToolType::LettaCore),
            ("run_code", ToolType::LettaBuiltin),
            ("Straße 100%", ToolType::Custom),
            ("STRASSE_\\ΣΑΣ", ToolType::Custom),
            ("weather", ToolType::ExternalMcp),
        ] {
            let stored = store.upsert_tool(NewTool::new(name, tool_type)).await.unwrap();
            ids.push(stored.record.id);
        }
        let [message, code, street, other, weather] =
            ["send_message", "run_code", "Straße 100%", "STRASSE_\\ΣΑΣ", "weather"];
        let text = |text: &str| Some(text.to_owned());
        let texts = |texts: &[&str]| Some(texts.iter().map(|text| (*text).to_owned()).collect());
        let base = ToolFilter { ascending: true, ..Default::default() };
        let search = |search| ToolFilter { search: text(search), ..base.clone() };
        let cases = [
            (base.clone(), vec![message, code, street, other, weather]),
            (ToolFilter { ascending: false, ..base.clone() },
                vec![weather, other, street, code, message]),
            (ToolFilter { name: text(code), ..base.clone() }, vec![code]),
            (ToolFilter { name: text("Run_Code"), ..base.clone() }, vec![]),
            (ToolFilter { names: texts(&[weather, "nothing", message]), ..base.clone() },
                vec![message, weather]),
            (ToolFilter { names: texts(&[]), ..base.clone() }, vec![]),
            (ToolFilter { ids: texts(&[&ids[4], "tool-0", &ids[0]]), ..base.clone() },
                vec![message, weather]),
            (ToolFilter { ids: texts(&[]), ..base.clone() }, vec![]),
            (search(""), vec![message, code, street, other, weather]),
            (search("STRA"), vec![street, other]),
            (search("straße"), vec![street]),
            (search("σας"), vec![]),
            (search("σΑσ"), vec![other]),
            (search("%"), vec![street]),
            (search("_"), vec![message, code, other]),
            (search("\\"), vec![other]),
            (search("e_\\σ"), vec![other]),
            (search("'; DROP TABLE tools; --"), vec![]),
            (ToolFilter {
                types: Some(vec![ToolType::Custom, ToolType::LettaCore]), ..base.clone()
            }, vec![message, street, other]),
            (ToolFilter { types: Some(vec![]), ..base.clone() }, vec![]),
            (ToolFilter { exclude_types: Some(vec![ToolType::Custom]), ..base.clone() },
                vec![message, code, weather]),
            (ToolFilter { exclude_types: Some(vec![]), ..base.clone() },
                vec![message, code, street, other, weather]),
            (ToolFilter { return_only_letta_tools: true, ..base.clone() }, vec![message, code]),
            (ToolFilter { exclude_letta_tools: true, ..base.clone() },
                vec![street, other, weather]),
            (ToolFilter {
                return_only_letta_tools: true, exclude_letta_tools: true, ..base.clone()
            }, vec![]),
            (ToolFilter {
                names: texts(&[message, code, street]),
                ids: texts(&[&ids[0], &ids[1]]),
                search: text("E"),
                types: Some(vec![ToolType::LettaCore, ToolType::LettaBuiltin]),
                exclude_types: Some(vec![ToolType::LettaBuiltin]),
                return_only_letta_tools: true,
                ..base.clone()
            }, vec![message]),
        ];
        for (filter, expected) in cases {
            assert_eq!(found(&store, &filter).await, expected, "{filter:?}");
        }
    }

    async fn pages_forwards_and_back_in_both_orders_show_every_tool_once(database) {
        let store = database.open().await;
        let all = many(&database, &store).await;
        for ascending in [true, false] {
            let mut expected = all.clone();
            if !ascending {
                expected.reverse();
            }
            for limit in [1, 7, 40, 119, 120] {
                let filter = ToolFilter { ascending, limit: Some(limit), ..Default::default() };
                let mut forwards: Vec<ToolRecord> = Vec::new();
                loop {
                    let after = forwards.last().map(|tool| tool.id.clone());
                    let page = store.tools(&ToolFilter { after, ..filter.clone() }).await.unwrap();
                    if page.is_empty() { break }
                    assert!(page.len() <= limit as usize);
                    forwards.extend(page);
                }
                assert_eq!(forwards, expected);
                // Back from the last one, which is not part of what comes before it.
                let mut back: Vec<ToolRecord> = vec![expected[ROWS - 1].clone()];
                loop {
                    let before = Some(back[0].id.clone());
                    let page = store.tools(&ToolFilter { before, ..filter.clone() }).await.unwrap();
                    if page.is_empty() { break }
                    assert!(page.len() <= limit as usize);
                    back.splice(0..0, page);
                }
                assert_eq!(back, expected);
            }
        }
    }

    async fn a_page_between_two_tools_holds_what_lies_between_them(database) {
        let store = database.open().await;
        let all = many(&database, &store).await;
        let between = async |ascending, after: usize, before: usize, limit| {
            let filter = ToolFilter {
                ascending,
                after: Some(all[after].id.clone()),
                before: Some(all[before].id.clone()),
                limit,
                ..Default::default()
            };
            store.tools(&filter).await.unwrap()
        };
        assert_eq!(between(true, 10, 20, None).await, all[11..20]);
        assert_eq!(between(true, 10, 20, Some(3)).await, all[11..14]);
        let turned: Vec<_> = all[11..20].iter().rev().cloned().collect();
        assert_eq!(between(false, 20, 10, None).await, turned);
        assert_eq!(between(false, 20, 10, Some(3)).await, turned[..3]);
        assert!(between(true, 20, 10, None).await.is_empty());
        assert!(between(true, 10, 10, None).await.is_empty());
    }

    async fn filters_hold_on_every_page_and_a_count_knows_no_pages(database) {
        let store = database.open().await;
        let all = many(&database, &store).await;
        let filter = ToolFilter {
            search: Some("TOOL 1".to_owned()),
            ascending: true,
            limit: Some(5),
            after: Some(all[14].id.clone()),
            ..Default::default()
        };
        let page = store.tools(&filter).await.unwrap();
        let expected = all[15..].iter().filter(|tool| tool.name.starts_with("tool 1"));
        assert_eq!(page, expected.take(5).cloned().collect::<Vec<_>>());
        assert_eq!(store.count_tools(&filter).await.unwrap(), 31, "1, 10-19, 100-119");
        let usual = ToolFilter::default();
        assert_eq!(store.tools(&usual).await.unwrap().len(), 100);
        let none = ToolFilter { limit: Some(0), ..usual };
        assert!(store.tools(&none).await.unwrap().is_empty());
    }

    async fn a_page_of_large_tools_ends_early_and_the_next_goes_on(database) {
        let store = database.open().await;
        let fits = usize::try_from(PAGE_BYTES_MAX).unwrap().div_ceil(limits::SOURCE_MAX);
        for number in 0..=fits {
            let source_code = Some("x".repeat(limits::SOURCE_MAX));
            let new = NewTool { source_code, ..custom(&number.to_string()) };
            store.upsert_tool(new).await.unwrap();
        }
        for ascending in [true, false] {
            let filter = ToolFilter { ascending, ..Default::default() };
            let page = store.tools(&filter).await.unwrap();
            assert_eq!(page.len(), fits);
            let after = page.last().map(|tool| tool.id.clone());
            let rest = store.tools(&ToolFilter { after, ..filter.clone() }).await.unwrap();
            assert_eq!(rest.len(), 1);
            let before = rest.first().map(|tool| tool.id.clone());
            let back = store.tools(&ToolFilter { before, ..filter }).await.unwrap();
            assert_eq!(back, page);
        }
    }

    async fn a_cursor_that_is_no_tool_and_unusable_filters_are_refused(database) {
        let store = database.open().await;
        let id = || Some("tool-00000000-0000-4000-8000-000000000000".to_owned());
        for filter in [
            ToolFilter { after: id(), ..Default::default() },
            ToolFilter { before: id(), ..Default::default() },
        ] {
            let error = store.tools(&filter).await.unwrap_err();
            assert!(matches!(error, StoreError::NotFound { what: "tool", .. }), "{error:?}");
        }
        let nul = || Some("a\0".to_owned());
        for filter in [
            ToolFilter { name: nul(), ..Default::default() },
            ToolFilter { names: nul().map(|nul| vec![nul]), ..Default::default() },
            ToolFilter { ids: nul().map(|nul| vec![nul]), ..Default::default() },
            ToolFilter { search: nul(), ..Default::default() },
            ToolFilter { after: nul(), ..Default::default() },
            ToolFilter { before: nul(), ..Default::default() },
        ] {
            let error = store.tools(&filter).await.unwrap_err();
            assert!(matches!(error, StoreError::Invalid { .. }), "{error:?}");
            let error = store.count_tools(&filter).await.unwrap_err();
            assert!(matches!(error, StoreError::Invalid { .. }), "{error:?}");
        }
        let long = ToolFilter { search: Some("x".repeat(2000)), ..Default::default() };
        let many = vec!["a".to_owned(); FILTER_LIST_MAX + 1];
        let many = ToolFilter { ids: Some(many), ..Default::default() };
        for filter in [long, many] {
            let error = store.tools(&filter).await.unwrap_err();
            assert!(matches!(error, StoreError::Quota { .. }), "{error:?}");
        }
        let most = vec!["a".to_owned(); FILTER_LIST_MAX];
        let most = ToolFilter { ids: Some(most), ..Default::default() };
        assert!(store.tools(&most).await.unwrap().is_empty());
    }
}
