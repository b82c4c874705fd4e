//! From text to tree: html5ever's parser, with a limit on depth and on size.
//!
//! The HTML algorithm looks through the stack of open elements for most tags, so that its
//! time is the number of tags times their depth. [`Guard`] stands between tokenizer and tree
//! builder and keeps both factors small; what it leaves out is tags, never text.

use std::borrow::Cow;
use std::cell::{Cell, Ref, RefCell};
use std::collections::HashMap;

use html5ever::buffer_queue::BufferQueue;
use html5ever::interface::{
    ElementFlags, NodeOrText, QuirksMode, TokenizerResult, Tracer, TreeSink,
};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{TagKind, Token, TokenSink, TokenSinkResult, Tokenizer};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use html5ever::{Attribute, LocalName, QualName};

use crate::dom::{Data, Dom, NodeId, ROOT};

/// Open elements at once. Browsers stop at 512 as well.
const MAX_DEPTH: usize = 512;
/// Nodes of one page: some 40 MB, within a call's default memory. Long pages have 100,000.
const MAX_NODES: usize = 400_000;

/// The tree, and whether the page was too large to be read to its end.
pub(crate) struct Parsed {
    /// The tree.
    pub(crate) dom: Dom,
    /// Whether the limit of nodes was met.
    pub(crate) cut: bool,
}

/// Parses a page. Any text gives a tree.
pub(crate) fn parse(html: &str) -> Parsed {
    let options = TreeBuilderOpts {
        // What stands in <noscript> is what a client without scripts sees.
        scripting_enabled: false,
        ..TreeBuilderOpts::default()
    };
    let guard = Guard {
        builder: TreeBuilder::new(Sink(RefCell::new(Dom::new())), options),
        open: Cell::new(0),
        left_out: RefCell::new(HashMap::new()),
        cut: Cell::new(false),
    };
    let tokenizer = Tokenizer::new(guard, Default::default());
    let input = BufferQueue::default();
    input.push_back(StrTendril::from_slice(html));
    while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
    tokenizer.end();
    let guard = tokenizer.sink;
    Parsed {
        dom: guard.builder.sink.finish(),
        cut: guard.cut.get(),
    }
}

/// Passes tokens on to the tree builder while depth and size allow.
struct Guard {
    builder: TreeBuilder<NodeId, Sink>,
    /// At least as many as the open elements: start tags since the last count, and that count.
    open: Cell<usize>,
    /// Start tags that were left out, whose end tags must be too.
    left_out: RefCell<HashMap<LocalName, usize>>,
    cut: Cell<bool>,
}

impl Guard {
    /// Whether the tree is as deep as `limit`; counts only if it may be.
    fn is_at(&self, limit: usize) -> bool {
        if self.open.get() >= limit {
            let count = Count(Cell::new(0));
            self.builder.trace_handles(&count);
            self.open.set(count.0.get());
        }
        self.open.get() >= limit
    }

    fn passes(&self, token: &Token) -> bool {
        match token {
            Token::EOFToken => true,
            _ if self.cut.get() => false,
            _ if self.builder.sink.0.borrow().len() >= MAX_NODES => {
                self.cut.set(true);
                false
            }
            Token::TagToken(tag) if tag.kind == TagKind::StartTag => {
                let limit = if changes_tokenizer(&tag.name) {
                    2 * MAX_DEPTH
                } else {
                    MAX_DEPTH
                };
                if self.is_at(limit) && !is_void(&tag.name) {
                    let mut left_out = self.left_out.borrow_mut();
                    *left_out.entry(tag.name.clone()).or_default() += 1;
                    return false;
                }
                self.open.set(self.open.get() + 1);
                true
            }
            Token::TagToken(tag) => match self.left_out.borrow_mut().get_mut(&tag.name) {
                Some(count) if *count > 0 => {
                    *count -= 1;
                    false
                }
                _ => true,
            },
            _ => true,
        }
    }
}

/// Elements whose content is no markup: without them the tokenizer would read scripts as text.
fn changes_tokenizer(name: &str) -> bool {
    matches!(
        name,
        "script" | "style" | "textarea" | "title" | "xmp" | "iframe" | "noembed" | "noframes"
    )
}

fn is_void(name: &str) -> bool {
    matches!(
        name,
        "br" | "img" | "hr" | "input" | "wbr" | "meta" | "link"
    )
}

impl TokenSink for Guard {
    type Handle = NodeId;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<NodeId> {
        if self.passes(&token) {
            self.builder.process_token(token, line)
        } else {
            TokenSinkResult::Continue
        }
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder
            .adjusted_current_node_present_but_not_in_html_namespace()
    }
}

/// Counts what the tree builder holds on to: its open elements and a few more.
struct Count(Cell<usize>);

impl Tracer for Count {
    type Handle = NodeId;

    fn trace_handle(&self, _: &NodeId) {
        self.0.set(self.0.get() + 1);
    }
}

/// The tree builder's view of a [`Dom`].
struct Sink(RefCell<Dom>);

impl Sink {
    /// Makes a detached node of the child; text is added to `before` if that is text.
    fn place(&self, before: Option<NodeId>, child: NodeOrText<NodeId>) -> Option<NodeId> {
        let mut dom = self.0.borrow_mut();
        match child {
            NodeOrText::AppendNode(id) => {
                dom.detach(id);
                Some(id)
            }
            NodeOrText::AppendText(text) => {
                if let Some(before) = before
                    && let Data::Text(present) = dom.data_mut(before)
                {
                    present.push_tendril(&text);
                    return None;
                }
                Some(dom.create(Data::Text(text)))
            }
        }
    }
}

impl TreeSink for Sink {
    type Handle = NodeId;
    type Output = Dom;
    type ElemName<'a> = Ref<'a, QualName>;

    fn finish(self) -> Dom {
        self.0.into_inner()
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> NodeId {
        ROOT
    }

    fn elem_name<'a>(&'a self, target: &'a NodeId) -> Ref<'a, QualName> {
        Ref::map(self.0.borrow(), |dom| match dom.data(*target) {
            Data::Element { name, .. } => name,
            _ => unreachable!("the tree builder asks for the names of elements only"),
        })
    }

    fn create_element(
        &self,
        name: QualName,
        attributes: Vec<Attribute>,
        _: ElementFlags,
    ) -> NodeId {
        self.0
            .borrow_mut()
            .create(Data::Element { name, attributes })
    }

    fn create_comment(&self, _: StrTendril) -> NodeId {
        self.0.borrow_mut().create(Data::Other)
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> NodeId {
        self.0.borrow_mut().create(Data::Other)
    }

    fn append(&self, parent: &NodeId, child: NodeOrText<NodeId>) {
        let last = self.0.borrow().last_child(*parent);
        if let Some(child) = self.place(last, child) {
            self.0.borrow_mut().append(*parent, child);
        }
    }

    fn append_based_on_parent_node(
        &self,
        element: &NodeId,
        previous: &NodeId,
        child: NodeOrText<NodeId>,
    ) {
        let has_parent = self.0.borrow().parent(*element).is_some();
        if has_parent {
            self.append_before_sibling(element, child);
        } else {
            self.append(previous, child);
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    /// A template's content is never shown, so it may hang anywhere that is not walked to.
    fn get_template_contents(&self, _: &NodeId) -> NodeId {
        self.0.borrow_mut().create(Data::Other)
    }

    fn same_node(&self, x: &NodeId, y: &NodeId) -> bool {
        x == y
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &NodeId, child: NodeOrText<NodeId>) {
        let before = self.0.borrow().previous(*sibling);
        if let Some(child) = self.place(before, child) {
            self.0.borrow_mut().insert_before(*sibling, child);
        }
    }

    fn add_attrs_if_missing(&self, target: &NodeId, missing: Vec<Attribute>) {
        if let Data::Element { attributes, .. } = self.0.borrow_mut().data_mut(*target) {
            for attribute in missing {
                if attributes.iter().all(|one| one.name != attribute.name) {
                    attributes.push(attribute);
                }
            }
        }
    }

    fn remove_from_parent(&self, target: &NodeId) {
        self.0.borrow_mut().detach(*target);
    }

    fn reparent_children(&self, node: &NodeId, new_parent: &NodeId) {
        self.0.borrow_mut().move_children(*node, *new_parent);
    }
}
