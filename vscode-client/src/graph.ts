// What `autograd/graph` answers, and what the extension and its view say to each other.

export interface Position {
  line: number;
  character: number;
}

export interface Range {
  start: Position;
  end: Position;
}

export interface GraphNode {
  id: string;
  kind: "tensor" | "operator" | "leaf" | "cut" | "unknown" | "presumed";
  label: string;
  requires_grad: boolean | null;
  is_leaf: boolean | null;
  saved: string[];
  freed: boolean | null;
  uri?: string;
  range: Range | null;
}

export interface GraphEdge {
  from: string;
  to: string;
}

export interface Graph {
  name: string;
  /** The first is the tensor that was asked about. */
  nodes: GraphNode[];
  edges: GraphEdge[];
  notes: string[];
}

/** All that the view shows. */
export interface Shown {
  graph: Graph | null;
  /** The place that the graph belongs to, or why there is none. */
  text: string;
  follow: boolean;
}

/** What the view keeps over a reload. */
export interface Kept {
  shown: Shown;
  zoom: number;
  /** The node that the keyboard is on. */
  focus: string | null;
}

export type ToView = { type: "show"; shown: Shown } | { type: "export" };

export type FromView =
  | { type: "ready" }
  | { type: "reveal"; node: string }
  | { type: "follow"; follow: boolean }
  | { type: "svg"; name: string; text: string };
