// A program in the fragment of an address: compressed, in the alphabet of addresses. It never reaches a server.

const KEY = "#code=";

export async function toFragment(text) {
  const packed = await through(new Blob([text]), new CompressionStream("deflate-raw"));
  const letters = btoa(Array.from(packed, (byte) => String.fromCharCode(byte)).join(""));
  return KEY + letters.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

// Null where there is no program in it, or one that is damaged.
export async function fromFragment(fragment) {
  if (!fragment.startsWith(KEY)) return null;
  try {
    const letters = atob(fragment.slice(KEY.length).replaceAll("-", "+").replaceAll("_", "/"));
    const packed = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    return new TextDecoder().decode(await through(new Blob([packed]), new DecompressionStream("deflate-raw")));
  } catch {
    return null;
  }
}

async function through(blob, stream) {
  return new Uint8Array(await new Response(blob.stream().pipeThrough(stream)).arrayBuffer());
}
