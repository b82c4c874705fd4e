use bulkhead_domain::{Agent, StopReason, Timestamp};
use bulkhead_store::{
    AgentFilter, AgentOrder, AgentRelations, NewAgent, Paging, Store, StoreError, TagFilter,
    tool::FILTER_LIST_MAX,
};

use super::{
    agent::{agent, tools},
    block, identity,
};

/// The names that a filter finds, in the list's order; counted too.
async fn found(store: &Store, filter: &AgentFilter) -> Vec<String> {
    let agents = store.agents(filter).await.unwrap();
    assert_eq!(
        store.count_agents(filter).await.unwrap(),
        agents.len() as u64
    );
    agents.into_iter().map(|agent| agent.name).collect()
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn texts<const N: usize>(texts: [&str; N]) -> Option<Vec<String>> {
    Some(texts.into_iter().map(str::to_owned).collect())
}

fn ascending() -> AgentFilter {
    let paging = Paging {
        ascending: true,
        ..Default::default()
    };
    AgentFilter {
        paging,
        ..Default::default()
    }
}

/// Twelve agents: three made at each moment, of which every fourth has ended a run.
async fn many(store: &Store) -> Vec<Agent> {
    let mut agents = Vec::new();
    for number in 0_i64..12 {
        let agent = Agent {
            created_at: Timestamp::from_micros(number / 3),
            updated_at: Timestamp::from_micros(100 - number / 2),
            last_run_completion: (number % 4 == 0).then(|| Timestamp::from_micros(50 - number / 8)),
            ..agent(&number.to_string())
        };
        store
            .create_agent(&NewAgent::new(agent.clone()))
            .await
            .unwrap();
        agents.push(agent);
    }
    agents
}

on_both! {
    async fn agents_are_found_by_every_filter(database) {
        let store = database.open().await;
        let [dice] = tools(&store, ["dice"]).await;
        let notes = block::made(&store, "notes", "").await;
        let owner = identity::made(&store, "owner").await;
        let full = NewAgent {
            block_ids: vec![notes.id],
            tool_ids: vec![dice.clone()],
            identity_ids: vec![owner.id],
            tags: texts(["a", "b"]).unwrap(),
            ..NewAgent::new(Agent {
                project_id: text("project"),
                template_id: text("template"),
                base_template_id: text("base"),
                created_by_id: text("user"),
                last_stop_reason: Some(StopReason::EndTurn),
                hidden: Some(false),
                ..agent("Straße 100%")
            })
        };
        store.create_agent(&full).await.unwrap();
        let tagged = NewAgent { tags: texts(["b", "c"]).unwrap(),
            ..NewAgent::new(agent("STRASSE_")) };
        store.create_agent(&tagged).await.unwrap();
        let hidden = NewAgent::new(Agent { hidden: Some(true), ..agent("hidden") });
        store.create_agent(&hidden).await.unwrap();
        let (one, two) = ("Straße 100%", "STRASSE_");
        let base = ascending();
        let cases = [
            (base.clone(), vec![one, two]),
            (AgentFilter::default(), vec![two, one]),
            (AgentFilter { show_hidden: true, ..base.clone() }, vec![one, two, "hidden"]),
            (AgentFilter { name: text(one), ..base.clone() }, vec![one]),
            (AgentFilter { name: text("strasse_"), ..base.clone() }, vec![]),
            (AgentFilter { query_text: text("STRA"), ..base.clone() }, vec![one, two]),
            (AgentFilter { query_text: text("straße"), ..base.clone() }, vec![one]),
            (AgentFilter { query_text: text("%"), ..base.clone() }, vec![one]),
            (AgentFilter { query_text: text("_"), ..base.clone() }, vec![two]),
            (AgentFilter { tags: texts(["b"]), ..base.clone() }, vec![one, two]),
            (AgentFilter { tags: texts(["a", "c"]), ..base.clone() }, vec![one, two]),
            (AgentFilter { tags: texts(["a", "c"]), match_all_tags: true, ..base.clone() }, vec![]),
            (AgentFilter { tags: texts(["c", "b", "c"]), match_all_tags: true, ..base.clone() },
                vec![two]),
            (AgentFilter { tags: texts([]), match_all_tags: true, ..base.clone() }, vec![one, two]),
            (AgentFilter { tags: texts(["x"]), ..base.clone() }, vec![]),
            (AgentFilter { other_tags: texts(["a", "x"]), ..base.clone() }, vec![one]),
            (AgentFilter { tags: texts(["b"]), match_all_tags: true, other_tags: texts(["c"]),
                ..base.clone() }, vec![two]),
            (AgentFilter { other_tags: texts([]), ..base.clone() }, vec![one, two]),
            (AgentFilter { of_no_user: true, ..base.clone() }, vec![one, two]),
            (AgentFilter { project_id: text("project"), ..base.clone() }, vec![one]),
            (AgentFilter { template_id: text("template"), ..base.clone() }, vec![one]),
            (AgentFilter { base_template_id: text("base"), ..base.clone() }, vec![one]),
            (AgentFilter { created_by_id: text("user"), ..base.clone() }, vec![one]),
            (AgentFilter { created_by_id: text("other"), ..base.clone() }, vec![]),
            (AgentFilter { last_stop_reason: Some(StopReason::EndTurn), ..base.clone() }, vec![one]),
            (AgentFilter { identity_id: Some(owner.id), ..base.clone() }, vec![one]),
            (AgentFilter { identifier_keys: texts(["x", "owner"]), ..base.clone() }, vec![one]),
            (AgentFilter { identifier_keys: texts([]), ..base.clone() }, vec![]),
            (AgentFilter { block_id: Some(notes.id), ..base.clone() }, vec![one]),
            (AgentFilter { tool_id: Some(dice), ..base.clone() }, vec![one]),
        ];
        for (filter, expected) in cases {
            assert_eq!(found(&store, &filter).await, expected, "{filter:?}");
        }
    }

    async fn pages_in_every_order_show_every_agent_once(database) {
        let store = database.open().await;
        let all = many(&store).await;
        for order_by in [AgentOrder::CreatedAt, AgentOrder::UpdatedAt,
            AgentOrder::LastRunCompletion] {
            for ascending in [true, false] {
                let mut expected: Vec<_> = all.iter().enumerate().collect();
                expected.sort_by_key(|(place, agent)| {
                    let at = match order_by {
                        AgentOrder::CreatedAt => Some(agent.created_at),
                        AgentOrder::UpdatedAt => Some(agent.updated_at),
                        AgentOrder::LastRunCompletion => agent.last_run_completion,
                    };
                    // Those without stand last in either order.
                    let at = at.map_or(if ascending { i64::MAX } else { i64::MIN },
                        Timestamp::micros);
                    (at, *place)
                });
                if !ascending {
                    expected.reverse();
                }
                let expected: Vec<_> = expected.into_iter().map(|(_,
                    agent)| agent.clone()).collect();
                for limit in [1, 5, 12] {
                    let filter = |after, before| AgentFilter {
                        order_by,
                        paging: Paging { after, before, ascending, limit: Some(limit) },
                        ..Default::default()
                    };
                    let mut forwards: Vec<Agent> = Vec::new();
                    loop {
                        let after = forwards.last().map(|agent| agent.id.to_string());
                        let page = store.agents(&filter(after, None)).await.unwrap();
                        if page.is_empty() { break }
                        assert!(page.len() <= limit as usize);
                        forwards.extend(page);
                    }
                    assert_eq!(forwards, expected, "{order_by:?} {ascending}");
                    let mut back: Vec<Agent> = vec![expected[11].clone()];
                    loop {
                        let before = Some(back[0].id.to_string());
                        let page = store.agents(&filter(None, before)).await.unwrap();
                        if page.is_empty() { break }
                        back.splice(0..0, page);
                    }
                    assert_eq!(back, expected);
                    let between = filter(Some(expected[2].id.to_string()),
                        Some(expected[6].id.to_string()));
                    let between = store.agents(&between).await.unwrap();
                    assert_eq!(between, expected[3..6.min(3 + limit as usize)]);
                }
            }
        }
    }

    async fn an_agent_that_was_changed_moves_to_the_front_by_its_change(database) {
        let store = database.open().await;
        let all = many(&store).await;
        let rename = |agent: &mut Agent| {
            "changed".clone_into(&mut agent.name);
            Ok::<_, StoreError>(())
        };
        let relations = AgentRelations::default();
        store.update_agent(&all[7].id, rename, &relations).await.unwrap();
        let filter = AgentFilter { order_by: AgentOrder::UpdatedAt, ..Default::default() };
        assert_eq!(found(&store, &filter).await[0], "changed");
    }

    async fn a_page_of_large_agents_ends_early_and_the_next_goes_on(database) {
        let store = database.open().await;
        for number in 0..40 {
            let large = Agent { system: "x".repeat(1_000_000), ..agent(&number.to_string()) };
            store.create_agent(&NewAgent::new(large)).await.unwrap();
        }
        let first = store.agents(&AgentFilter::default()).await.unwrap();
        assert!((20..40).contains(&first.len()), "{}", first.len());
        let after = first.last().map(|agent| agent.id.to_string());
        let paging = Paging { after, ..Default::default() };
        let rest = AgentFilter { paging, ..Default::default() };
        assert_eq!(store.agents(&rest).await.unwrap().len(), 40 - first.len());
    }

    async fn a_cursor_that_is_no_agent_and_unusable_filters_are_refused(database) {
        let store = database.open().await;
        let cursor = |cursor: &str| AgentFilter {
            paging: Paging { after: text(cursor), ..Default::default() },
            ..Default::default()
        };
        for id in ["agent-00000000-0000-4000-8000-000000000000", "", "x"] {
            let error = store.agents(&cursor(id)).await.unwrap_err();
            assert!(matches!(error, StoreError::NotFound { what: "agent", .. }), "{error:?}");
        }
        let many = Some(vec!["a".to_owned(); FILTER_LIST_MAX + 1]);
        for filter in [
            cursor("a\0"),
            AgentFilter { name: text("\0"), ..Default::default() },
            AgentFilter { query_text: Some("x".repeat(600)), ..Default::default() },
            AgentFilter { tags: many.clone(), ..Default::default() },
            AgentFilter { identifier_keys: many, ..Default::default() },
        ] {
            let error = store.agents(&filter).await.unwrap_err();
            assert!(matches!(error, StoreError::Invalid { .. } | StoreError::Quota { .. }),
                "{error:?}");
        }
        let most: Vec<_> = (0..FILTER_LIST_MAX).map(|tag| tag.to_string()).collect();
        let most = AgentFilter { tags: Some(most), match_all_tags: true, ..Default::default() };
        assert!(store.agents(&most).await.unwrap().is_empty());
    }

    async fn tags_are_listed_once_and_page_by_page_in_both_orders(database) {
        let store = database.open().await;
        for tags in [["b", "Ä"], ["a", "b"], ["B", "d"]] {
            let tags = texts(tags).unwrap();
            let new = NewAgent { tags, ..NewAgent::new(agent("a")) };
            store.create_agent(&new).await.unwrap();
        }
        let tags = async |filter: &TagFilter| store.agent_tags(filter).await.unwrap();
        let base = TagFilter::default();
        assert_eq!(tags(&base).await, ["B", "a", "b", "d", "Ä"]);
        let down = TagFilter { descending: true, ..base.clone() };
        assert_eq!(tags(&down).await, ["Ä", "d", "b", "a", "B"]);
        for (filter, expected) in [
            (TagFilter { query_text: text("B"), ..base.clone() }, vec!["B", "b"]),
            (TagFilter { query_text: text("ä"), ..base.clone() }, vec!["Ä"]),
            (TagFilter { query_text: text("%"), ..base.clone() }, vec![]),
            (TagFilter { name: text("b"), ..base.clone() }, vec!["b"]),
            (TagFilter { limit: Some(2), ..base.clone() }, vec!["B", "a"]),
            (TagFilter { after: text("a"), limit: Some(2), ..base.clone() }, vec!["b", "d"]),
            (TagFilter { after: text("c"), ..base.clone() }, vec!["d", "Ä"]),
            (TagFilter { before: text("d"), limit: Some(2), ..base.clone() }, vec!["a", "b"]),
            (TagFilter { after: text("d"), limit: Some(2), ..down.clone() }, vec!["b", "a"]),
            (TagFilter { before: text("a"), limit: Some(2), ..down.clone() }, vec!["d", "b"]),
        ] {
            assert_eq!(tags(&filter).await, expected, "{filter:?}");
        }
        let nul = TagFilter { after: text("\0"), ..base };
        assert!(matches!(store.agent_tags(&nul).await, Err(StoreError::Invalid { .. })));
    }
}
