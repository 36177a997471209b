// Colours in words that are older than the browser.

/** Browsers tell a mixed colour as `color(srgb ...)`, which few other programs read. */
export function plainColour(value: string): string {
  return value.replace(/color\(srgb ([^)]+)\)/g, (_, parts: string) => {
    const [red, green, blue, alpha] = parts.split(/[\s/]+/).map(Number) as (number | undefined)[];
    const channels = [red, green, blue].map((part) => Math.round((part ?? 0) * 255)).join(", ");
    return alpha === undefined ? `rgb(${channels})` : `rgba(${channels}, ${alpha})`;
  });
}
