//! Agents and blocks for tests.

use bulkhead_domain::{
    Agent, AgentType, Block, LlmConfig, Timestamp,
    id::{AgentId, BlockId},
};

pub(crate) fn agent(name: &str) -> Agent {
    let now = Timestamp::from_micros(1_795_293_487_000_000);
    let llm_config = LlmConfig::new("openai", "openai", "gpt-4o-mini", 128_000);
    let value = serde_json::json!({
        "id": AgentId::random(), "name": name, "agent_type": AgentType::LettaV1Agent,
        "system": "Be kind.", "llm_config": llm_config, "recompiled_at": now,
        "created_at": now, "updated_at": now,
    });
    serde_json::from_value(value).unwrap()
}

pub(crate) fn block(label: &str, value: &str) -> Block {
    let now = Timestamp::from_micros(1_795_293_487_000_000);
    let json = serde_json::json!({
        "id": BlockId::random(), "label": label, "value": value, "limit": 100_000, "version": 1,
        "created_at": now, "updated_at": now,
    });
    serde_json::from_value(json).unwrap()
}
