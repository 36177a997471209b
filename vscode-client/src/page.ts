// The page that the view lives in. It may run what carries the nonce and compile Graphviz, and reach nothing else.

export function page(nonce: string, script: string, style: string): string {
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}' 'wasm-unsafe-eval'`,
    `style-src 'nonce-${nonce}'`,
  ].join("; ");
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<link nonce="${nonce}" rel="stylesheet" href="${style}">
<title>Autograd Graph</title>
</head>
<body>
<header>
  <span id="text" role="status"></span>
  <span id="tools">
    <button id="follow" type="button" aria-pressed="true">Follow cursor</button>
    <button id="out" type="button" aria-label="Zoom out">−</button>
    <button id="fit" type="button">Fit</button>
    <button id="in" type="button" aria-label="Zoom in">+</button>
    <button id="export" type="button">Export SVG</button>
  </span>
</header>
<main id="graph"></main>
<footer>
  <ul id="legend" aria-label="Legend"></ul>
  <ul id="notes"></ul>
</footer>
<script nonce="${nonce}" src="${script}"></script>
</body>
</html>`;
}
