//! The document as a tree in one vector.
//!
//! Nodes link to each other by index, so that walking, moving and dropping the tree needs no
//! recursion: a page with a hundred thousand nested elements costs no stack.

use html5ever::tendril::StrTendril;
use html5ever::{Attribute, QualName};

/// The index of a node in its [`Dom`].
pub(crate) type NodeId = u32;

/// The document itself.
pub(crate) const ROOT: NodeId = 0;

/// Stands for "no node" in a link.
const NONE: NodeId = NodeId::MAX;

/// What a node is.
#[derive(Debug)]
pub(crate) enum Data {
    /// The document, a comment, or the content of a `<template>`.
    Other,
    /// A run of text.
    Text(StrTendril),
    /// An element with its attributes.
    Element {
        /// Namespace and local name.
        name: QualName,
        /// In the order of the source.
        attributes: Vec<Attribute>,
    },
}

#[derive(Debug)]
struct Node {
    data: Data,
    parent: NodeId,
    previous: NodeId,
    next: NodeId,
    first: NodeId,
    last: NodeId,
}

/// A step of a walk through a subtree in the order of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// The node begins.
    Enter(NodeId),
    /// The node and all in it has been seen.
    Leave(NodeId),
}

/// A tree of nodes.
#[derive(Debug)]
pub(crate) struct Dom {
    nodes: Vec<Node>,
}

fn some(id: NodeId) -> Option<NodeId> {
    (id != NONE).then_some(id)
}

impl Dom {
    /// A document without content.
    pub(crate) fn new() -> Self {
        let mut dom = Self { nodes: Vec::new() };
        dom.create(Data::Other);
        dom
    }

    /// How many nodes there are, detached ones included.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Adds a node that hangs nowhere yet.
    pub(crate) fn create(&mut self, data: Data) -> NodeId {
        let id = NodeId::try_from(self.nodes.len()).unwrap_or(NONE);
        self.nodes.push(Node {
            data,
            parent: NONE,
            previous: NONE,
            next: NONE,
            first: NONE,
            last: NONE,
        });
        id
    }

    fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }

    fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id as usize]
    }

    /// What the node is.
    pub(crate) fn data(&self, id: NodeId) -> &Data {
        &self.node(id).data
    }

    /// What the node is, to change it.
    pub(crate) fn data_mut(&mut self, id: NodeId) -> &mut Data {
        &mut self.node_mut(id).data
    }

    /// The node that holds this one.
    pub(crate) fn parent(&self, id: NodeId) -> Option<NodeId> {
        some(self.node(id).parent)
    }

    /// The sibling before.
    pub(crate) fn previous(&self, id: NodeId) -> Option<NodeId> {
        some(self.node(id).previous)
    }

    /// The last child.
    pub(crate) fn last_child(&self, id: NodeId) -> Option<NodeId> {
        some(self.node(id).last)
    }

    /// The local name of an element; empty for anything else.
    pub(crate) fn name(&self, id: NodeId) -> &str {
        match self.data(id) {
            Data::Element { name, .. } => &name.local,
            _ => "",
        }
    }

    /// The value of an attribute.
    pub(crate) fn attribute(&self, id: NodeId, wanted: &str) -> Option<&str> {
        match self.data(id) {
            Data::Element { attributes, .. } => attributes
                .iter()
                .find(|attribute| &*attribute.name.local == wanted)
                .map(|attribute| &*attribute.value),
            _ => None,
        }
    }

    /// Hangs a detached node under `parent` as its last child.
    pub(crate) fn append(&mut self, parent: NodeId, child: NodeId) {
        let last = self.node(parent).last;
        let node = self.node_mut(child);
        node.parent = parent;
        node.previous = last;
        node.next = NONE;
        match some(last) {
            Some(last) => self.node_mut(last).next = child,
            None => self.node_mut(parent).first = child,
        }
        self.node_mut(parent).last = child;
    }

    /// Hangs a detached node before `sibling`, which has a parent.
    pub(crate) fn insert_before(&mut self, sibling: NodeId, child: NodeId) {
        let (parent, previous) = (self.node(sibling).parent, self.node(sibling).previous);
        let node = self.node_mut(child);
        node.parent = parent;
        node.previous = previous;
        node.next = sibling;
        match some(previous) {
            Some(previous) => self.node_mut(previous).next = child,
            None if parent != NONE => self.node_mut(parent).first = child,
            None => {}
        }
        self.node_mut(sibling).previous = child;
    }

    /// Takes a node with all that is in it out of its place.
    pub(crate) fn detach(&mut self, id: NodeId) {
        let (parent, previous, next) = {
            let node = self.node(id);
            (node.parent, node.previous, node.next)
        };
        match some(previous) {
            Some(previous) => self.node_mut(previous).next = next,
            None if parent != NONE => self.node_mut(parent).first = next,
            None => {}
        }
        match some(next) {
            Some(next) => self.node_mut(next).previous = previous,
            None if parent != NONE => self.node_mut(parent).last = previous,
            None => {}
        }
        let node = self.node_mut(id);
        node.parent = NONE;
        node.previous = NONE;
        node.next = NONE;
    }

    /// Moves all children of `from` to the end of `to`.
    pub(crate) fn move_children(&mut self, from: NodeId, to: NodeId) {
        while let Some(child) = some(self.node(from).first) {
            self.detach(child);
            self.append(to, child);
        }
    }

    /// Visits `top` and all in it. `visit` answers whether to go into a node that it entered;
    /// a node that is not gone into is left at once.
    pub(crate) fn walk(&self, top: NodeId, mut visit: impl FnMut(Step) -> bool) {
        let mut at = top;
        loop {
            let inside = visit(Step::Enter(at));
            match some(self.node(at).first) {
                Some(first) if inside => {
                    at = first;
                    continue;
                }
                _ => {}
            }
            loop {
                visit(Step::Leave(at));
                if at == top {
                    return;
                }
                if let Some(next) = some(self.node(at).next) {
                    at = next;
                    break;
                }
                match some(self.node(at).parent) {
                    Some(parent) => at = parent,
                    None => return,
                }
            }
        }
    }

    /// The first element of that name in `top`.
    pub(crate) fn find(&self, top: NodeId, name: &str) -> Option<NodeId> {
        let mut found = None;
        self.walk(top, |step| {
            if let Step::Enter(id) = step
                && found.is_none()
                && self.name(id) == name
            {
                found = Some(id);
            }
            found.is_none()
        });
        found
    }
}
