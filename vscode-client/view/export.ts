// The picture as a file of its own: what the style sheet says of each shape is written into the shape.

import { plainColour } from "./colour";

const WRITTEN = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "font-family", "font-size"];
const KEPT = ["font-style", "font-weight", "text-decoration-line"];

export function standalone(svg: SVGSVGElement): string {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const shapes = [...copy.querySelectorAll<SVGElement>("*")];
  [...svg.querySelectorAll<SVGElement>("*")].forEach((shown, index) => {
    const style = getComputedStyle(shown);
    const shape = shapes[index];
    for (const name of shown.matches("text, rect, path, polygon, ellipse") ? [...WRITTEN, ...KEPT] : []) {
      const value = plainColour(style.getPropertyValue(name));
      shape.setAttribute(name === "text-decoration-line" ? "text-decoration" : name, value);
    }
    for (const name of ["tabindex", "role", "aria-label", "class"]) {
      shape.removeAttribute(name);
    }
  });
  const { width, height } = svg.viewBox.baseVal;
  for (const [name, value] of Object.entries({ width, height })) {
    copy.setAttribute(name, String(value));
  }
  for (const name of ["role", "aria-label", "id"]) {
    copy.removeAttribute(name);
  }
  copy.setAttribute("style", `background: ${plainColour(getComputedStyle(document.body).backgroundColor)}`);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(copy)}\n`;
}
