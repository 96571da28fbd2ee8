//! The drawing of a graph: of the control flow, or of barriers.
//!
//! Input: blocks with their lines, and edges. Output: an SVG without any style: classes say what is what, so that the page
//! chooses colours. Establishes: what is drawn depends on the graph alone. Relies on: `layout-rs`, which places blocks and
//! edges. Reference: K. Sugiyama, S. Tagawa, M. Toda, "Methods for visual understanding of hierarchical system structures".

use layout::core::base::Orientation;
use layout::core::format::{ClipHandle, RenderBackend};
use layout::core::geometry::Point;
use layout::core::style::StyleAttr;
use layout::std_shapes::shapes::{Arrow, Element, ShapeKind};
use layout::topo::layout::VisualGraph;
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Larger graphs are not drawn: nobody reads them, and it takes long to place them.
const MOST_BLOCKS: usize = 160;
const MOST_EDGES: usize = 320;

/// Lines of a block that are drawn, and characters of a line.
const MOST_LINES: usize = 14;
const LONGEST_LINE: usize = 48;

/// A character and a line, in pixels; the page has a monospaced font of 12 pixels there.
const CHARACTER: f64 = 7.3;
const LINE: f64 = 16.0;
const PADDING: f64 = 8.0;

/// A block to draw.
pub(crate) struct Shown {
    pub(crate) label: String,
    pub(crate) loop_head: bool,
    /// It is a part of a defect.
    pub(crate) at_fault: bool,
    /// The instruction of each line, where there is one, and its text.
    pub(crate) lines: Vec<(Option<usize>, String)>,
}

/// What an edge is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    Plain,
    /// It returns to the head of a loop.
    Back,
    /// It is less than the others.
    Weak,
    /// It is a part of a defect.
    Fault,
    /// It is not there, which is the defect.
    Missing,
}

impl Look {
    fn class(self) -> &'static str {
        match self {
            Look::Plain => "edge",
            Look::Back => "edge back",
            Look::Weak => "edge weak",
            Look::Fault => "edge fault",
            Look::Missing => "edge missing",
        }
    }
}

/// An edge to draw.
pub(crate) struct Edge {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) condition: String,
    pub(crate) look: Look,
}

/// The drawing; `None` if the graph is too large, or cannot be placed.
pub(crate) fn svg(blocks: &[Shown], edges: &[Edge]) -> Option<String> {
    if blocks.is_empty() || blocks.len() > MOST_BLOCKS || edges.len() > MOST_EDGES {
        return None;
    }
    let mut graph = VisualGraph::new(Orientation::TopToBottom);
    let handles: Vec<_> = (blocks.iter().enumerate())
        .map(|(number, block)| {
            let (shape, look) = (ShapeKind::Box(String::new()), StyleAttr::simple());
            let size = size(&cut(block));
            let properties = number.to_string();
            graph.add_node(Element::create_with_properties(shape, look, Orientation::TopToBottom, size, properties))
        })
        .collect();
    for (number, edge) in edges.iter().enumerate() {
        let arrow = Arrow::simple_with_properties(&edge.condition, number.to_string());
        graph.add_edge(arrow, handles[edge.from], handles[edge.to]);
    }
    let mut drawing = Drawing { blocks, edges, boxes: String::new(), lines: String::new(), width: 0.0, height: 0.0 };
    // Should it fail to place a graph, no verdict is lost for a drawing.
    let placed = catch_unwind(AssertUnwindSafe(|| graph.do_it(false, false, false, &mut drawing)));
    placed.is_ok().then(|| drawing.finish())
}

/// The lines that are drawn of a block.
fn cut(block: &Shown) -> Vec<(Option<usize>, String)> {
    let short = |text: &str| match text.char_indices().nth(LONGEST_LINE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    };
    let shown = if block.lines.len() > MOST_LINES { MOST_LINES - 1 } else { block.lines.len() };
    let mut lines: Vec<_> = std::iter::once((None, short(&block.label)))
        .chain(block.lines[..shown].iter().map(|(instruction, text)| (*instruction, short(text))))
        .collect();
    if shown < block.lines.len() {
        lines.push((None, format!("… {} more", block.lines.len() - shown)));
    }
    lines
}

fn size(lines: &[(Option<usize>, String)]) -> Point {
    let longest = lines.iter().map(|(_, text)| text.chars().count()).max().unwrap_or(0);
    Point::new(longest as f64 * CHARACTER + 2.0 * PADDING, lines.len() as f64 * LINE + PADDING)
}

/// Takes what is placed.
struct Drawing<'a> {
    blocks: &'a [Shown],
    edges: &'a [Edge],
    boxes: String,
    lines: String,
    width: f64,
    height: f64,
}

impl Drawing<'_> {
    fn holds(&mut self, x: f64, y: f64) {
        self.width = self.width.max(x + PADDING);
        self.height = self.height.max(y + PADDING);
    }

    fn finish(self) -> String {
        let (width, height) = (self.width.ceil(), self.height.ceil());
        let arrow = "<defs><marker id=\"arrow\" class=\"arrow\" viewBox=\"0 0 10 10\" refX=\"10\" refY=\"5\" markerWidth=\"8\" \
                     markerHeight=\"8\" orient=\"auto-start-reverse\"><path d=\"M0 0L10 5L0 10z\"/></marker></defs>";
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} \
             {height}\">{arrow}{}{}</svg>",
            self.lines, self.boxes
        )
    }
}

impl RenderBackend for Drawing<'_> {
    fn draw_rect(&mut self, at: Point, size: Point, _: &StyleAttr, number: Option<String>, _: Option<ClipHandle>) {
        let Some(number) = number.and_then(|number| number.parse::<usize>().ok()) else { return };
        let Some(block) = self.blocks.get(number) else { return };
        self.holds(at.x + size.x, at.y + size.y);
        let class = match (block.at_fault, block.loop_head) {
            (true, _) => "block fault",
            (false, true) => "block head",
            (false, false) => "block",
        };
        let (x, y) = (at.x, at.y);
        let _ = write!(
            self.boxes,
            "<g class=\"{class}\" data-block=\"{number}\"><rect class=\"box\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" \
             height=\"{:.1}\" rx=\"4\"/>",
            size.x, size.y
        );
        for (index, (instruction, text)) in cut(block).into_iter().enumerate() {
            let class = if index == 0 { "label" } else { "line" };
            let data = instruction.map(|number| format!(" data-instruction=\"{number}\"")).unwrap_or_default();
            let (x, y) = (x + PADDING, y + PADDING / 2.0 + LINE * (index as f64 + 0.75));
            let text = escaped(&text);
            let _ = write!(self.boxes, "<text class=\"{class}\"{data} x=\"{x:.1}\" y=\"{y:.1}\">{text}</text>");
        }
        self.boxes.push_str("</g>");
    }

    fn draw_line(&mut self, _: Point, _: Point, _: &StyleAttr, _: Option<String>) {}

    fn draw_circle(&mut self, _: Point, _: Point, _: &StyleAttr, _: Option<String>) {}

    /// Labels of edges; blocks have theirs from [`Self::draw_rect`].
    fn draw_text(&mut self, at: Point, text: &str, _: &StyleAttr) {
        if !text.trim().is_empty() {
            self.holds(at.x + text.chars().count() as f64 * CHARACTER / 2.0, at.y);
            let text = escaped(text.trim());
            let _ = write!(
                self.lines,
                "<text class=\"condition\" text-anchor=\"middle\" x=\"{:.1}\" y=\"{:.1}\">{text}</text>",
                at.x, at.y
            );
        }
    }

    /// The first pair is a point and what controls the way from it; of the others the second is the point.
    fn draw_arrow(
        &mut self,
        path: &[(Point, Point)],
        _: bool,
        (start, end): (bool, bool),
        _: &StyleAttr,
        number: Option<String>,
        _: &str,
    ) {
        let edge = number.and_then(|number| number.parse::<usize>().ok()).and_then(|number| self.edges.get(number));
        let [(from, control), rest @ ..] = path else { return };
        let mut way = format!("M{:.1} {:.1}C{:.1} {:.1}", from.x, from.y, control.x, control.y);
        for (index, (control, to)) in rest.iter().enumerate() {
            let separator = if index == 0 { ',' } else { 'S' };
            let _ = write!(way, "{separator}{:.1} {:.1},{:.1} {:.1}", control.x, control.y, to.x, to.y);
        }
        path.iter().flat_map(|(one, other)| [one, other]).for_each(|point| self.holds(point.x, point.y));
        let (class, data) = match edge {
            Some(Edge { from, to, look, .. }) => (look.class(), format!(" data-from=\"{from}\" data-to=\"{to}\"")),
            None => ("edge", String::new()),
        };
        let marker = |is_there: bool, name: &str| match is_there {
            true => format!(" marker-{name}=\"url(#arrow)\""),
            false => String::new(),
        };
        let markers = marker(start, "start") + &marker(end, "end");
        let _ = write!(self.lines, "<path class=\"{class}\"{data} fill=\"none\" d=\"{way}\"{markers}/>");
    }

    fn create_clip(&mut self, _: Point, _: Point, _: usize) -> ClipHandle {
        0
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(label: &str, lines: usize) -> Shown {
        let line = |number: usize| (Some(number), format!("a < b & {number}"));
        let lines = (0..lines).map(line).collect();
        Shown { label: label.to_string(), loop_head: label == "head", at_fault: false, lines }
    }

    fn edge(from: usize, to: usize, condition: &str, is_back: bool) -> Edge {
        Edge { from, to, condition: condition.to_string(), look: if is_back { Look::Back } else { Look::Plain } }
    }

    #[test]
    fn each_block_and_edge_is_drawn_once() {
        let blocks = [block("start", 2), block("head", 40), block("end", 0)];
        let edges =
            [edge(0, 1, "", false), edge(1, 1, "if %p1", true), edge(1, 2, "if !%p1", false), edge(0, 2, "", false)];
        let drawing = svg(&blocks, &edges).expect("a small graph");
        let drawing = roxmltree::Document::parse(&drawing).expect("it is well formed");
        let with = |attribute: &str| {
            let values = drawing.descendants().filter_map(|node| node.attribute(attribute));
            let mut values: Vec<String> = values.map(str::to_string).collect();
            values.sort();
            values.join(" ")
        };
        assert_eq!(with("data-block"), "0 1 2");
        assert_eq!((&*with("data-from"), &*with("data-to")), ("0 0 1 1", "1 1 2 2"));
        let texts: Vec<&str> = drawing.descendants().filter_map(|node| node.text()).collect();
        assert!(
            texts.contains(&"a < b & 0") && texts.contains(&"… 27 more") && texts.contains(&"if !%p1"),
            "{texts:?}"
        );
    }

    #[test]
    fn large_graphs_are_not_drawn() {
        let blocks: Vec<Shown> = (0..=MOST_BLOCKS).map(|_| block("b", 1)).collect();
        assert!(svg(&blocks, &[]).is_none() && svg(&[], &[]).is_none());
    }
}
