//! [`LinkGraph`]: nodes and their neighbours.
//!
//! Invariants: nodes are the numbers from 0 on; a node's neighbours are those that one link leads to, in the direction the
//! graph was made for. A link that occurs twice is two links; that changes no neighbourhood.
//!
//! Does not know what a node is.

/// Which way links are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From a page to the pages it links to.
    Out,
    /// From a page to the pages that link to it.
    In,
    /// Both ways: neighbours as in a social network.
    Undirected,
}

/// A link that names a node the graph does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a link names node {node}, but there are {nodes} nodes")]
pub struct UnknownNode {
    /// The number that was named.
    pub node: u32,
    /// How many nodes there are.
    pub nodes: u32,
}

/// A graph of links, 4 bytes a node and 4 a link (8 if links are followed both ways).
///
/// ```
/// use urlcache_evaluation::sketch::{Direction, LinkGraph};
///
/// // The slides' graph: the nodes A to G are 0 to 6.
/// let links = [(0, 1), (0, 2), (1, 2), (1, 3), (3, 4), (3, 5), (3, 6), (4, 5), (5, 6)];
/// let graph = LinkGraph::new(7, &links, Direction::Undirected)?;
/// assert_eq!(graph.neighbours(4), [5, 3]);
/// assert_eq!(graph.sizes_from(4, 3), [1, 3, 5, 7]);
/// # Ok::<(), urlcache_evaluation::sketch::UnknownNode>(())
/// ```
#[derive(Debug, Clone)]
pub struct LinkGraph {
    /// Where the neighbours of each node end.
    ends: Vec<usize>,
    neighbours: Vec<u32>,
}

impl LinkGraph {
    /// The graph of so many nodes with these links, each from its first to its second node.
    ///
    /// # Errors
    /// A link names a node that there is not.
    pub fn new(nodes: u32, links: &[(u32, u32)], direction: Direction) -> Result<Self, UnknownNode> {
        let outside = links.iter().flat_map(|(from, to)| [*from, *to]).find(|node| *node >= nodes);
        if let Some(node) = outside {
            return Err(UnknownNode { node, nodes });
        }
        let steps = || {
            let forwards = links.iter().copied().filter(move |_| direction != Direction::In);
            let backwards = links.iter().map(|(from, to)| (*to, *from)).filter(move |_| direction != Direction::Out);
            forwards.chain(backwards)
        };
        let mut ends = vec![0; nodes as usize];
        steps().for_each(|(from, _)| ends[from as usize] += 1);
        let mut sum = 0;
        for end in &mut ends {
            // For now where they begin.
            sum += std::mem::replace(end, sum);
        }
        let mut neighbours = vec![0; sum];
        for (from, to) in steps() {
            let place = &mut ends[from as usize];
            neighbours[*place] = to;
            *place += 1;
        }
        Ok(Self { ends, neighbours })
    }

    /// The number of nodes.
    pub fn nodes(&self) -> u32 {
        u32::try_from(self.ends.len()).expect("they were counted by a u32")
    }

    /// The neighbours of a node; none if there is no such node.
    pub fn neighbours(&self, node: u32) -> &[u32] {
        let node = node as usize;
        let Some(end) = self.ends.get(node) else { return &[] };
        let start = if node == 0 { 0 } else { self.ends[node - 1] };
        &self.neighbours[start..*end]
    }

    /// The exact sizes of the neighbourhoods n(u,0), n(u,1), ... of a node, up to a depth, by breadth-first search. The list
    /// ends early where the sizes no longer grow: all later ones are equal to its last. Empty if there is no such node.
    pub fn sizes_from(&self, node: u32, depth: u32) -> Vec<u64> {
        if node >= self.nodes() {
            return Vec::new();
        }
        let mut seen = vec![false; self.ends.len()];
        seen[node as usize] = true;
        let mut edge = vec![node];
        let mut sizes = vec![1];
        for _ in 0..depth {
            let mut next = Vec::new();
            for neighbour in edge.iter().flat_map(|node| self.neighbours(*node)) {
                if !std::mem::replace(&mut seen[*neighbour as usize], true) {
                    next.push(*neighbour);
                }
            }
            if next.is_empty() {
                break;
            }
            sizes.push(sizes.last().map_or(0, |size| size + next.len() as u64));
            edge = next;
        }
        sizes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_differ() {
        let links = [(0, 1), (1, 2), (3, 1), (0, 1), (2, 2)];
        let [out, into, both] = [Direction::Out, Direction::In, Direction::Undirected]
            .map(|direction| LinkGraph::new(5, &links, direction).unwrap());
        assert_eq!((out.neighbours(0), out.neighbours(2), out.neighbours(4)), (&[1, 1][..], &[2][..], &[][..]));
        assert_eq!((into.neighbours(1), into.neighbours(0)), (&[0, 3, 0][..], &[][..]));
        assert_eq!(both.neighbours(1), [2, 0, 3, 0]);
        assert_eq!([&out, &into, &both].map(|graph| graph.sizes_from(1, 9)), [vec![1, 2], vec![1, 3], vec![1, 4]]);
        assert_eq!((out.sizes_from(4, 9), out.sizes_from(0, 1)), (vec![1], vec![1, 2]));
    }

    #[test]
    fn nodes_that_are_not_there_are_refused() {
        let refused = LinkGraph::new(2, &[(0, 1), (1, 2)], Direction::Out).err();
        assert_eq!(refused, Some(UnknownNode { node: 2, nodes: 2 }));
        let empty = LinkGraph::new(0, &[], Direction::Undirected).unwrap();
        assert!(empty.neighbours(0).is_empty() && empty.sizes_from(0, 3).is_empty());
    }
}
