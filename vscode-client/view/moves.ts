// Where an arrow key leads: down and up along the edges, left and right to the neighbour in the same row.

import type { GraphEdge } from "../src/graph";

export interface Place {
  id: string;
  x: number;
  y: number;
}

/** Nodes of one row may differ in height by this much. */
const ROW = 12;

export function move(places: readonly Place[], edges: readonly GraphEdge[], from: string, key: string): string {
  const here = places.find(({ id }) => id === from);
  if (here === undefined) {
    return from;
  }
  return (nearest(candidates(places, edges, here, key), here) ?? here).id;
}

function candidates(places: readonly Place[], edges: readonly GraphEdge[], here: Place, key: string): Place[] {
  const ends = (ids: string[]) => places.filter(({ id }) => ids.includes(id));
  const row = places.filter(({ y }) => Math.abs(y - here.y) <= ROW);
  switch (key) {
    case "ArrowDown":
      return ends(edges.filter(({ from }) => from === here.id).map(({ to }) => to));
    case "ArrowUp":
      return ends(edges.filter(({ to }) => to === here.id).map(({ from }) => from));
    case "ArrowLeft":
      return row.filter(({ x }) => x < here.x);
    case "ArrowRight":
      return row.filter(({ x }) => x > here.x);
    case "Home":
      return places.slice(0, 1);
    default:
      return [];
  }
}

function nearest(places: readonly Place[], here: Place): Place | undefined {
  return [...places].sort((a, b) => Math.abs(a.x - here.x) - Math.abs(b.x - here.x))[0];
}
