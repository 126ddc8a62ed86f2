"""A script for a browser: the text of a page that stands out least, and by how much."""

CONTRAST = """
const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
function rgba(color) {
  canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
  const p = canvas.getImageData(0, 0, 1, 1).data; return [p[0], p[1], p[2], p[3] / 255];
}
function backdrop(node) {
  let layers = [];
  for (let n = node; n; n = n.parentElement) layers.push(rgba(getComputedStyle(n).backgroundColor));
  let found = [255, 255, 255];
  for (const [r, g, b, a] of layers.reverse())
    found = [r, g, b].map((c, i) => a * c + (1 - a) * found[i]);
  return found;
}
function light(color) {
  const [r, g, b] = color.map(c => c / 255)
    .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
let worst = [99, ""];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const node = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || !node.checkVisibility()) continue;
  const a = light(rgba(getComputedStyle(node).color).slice(0, 3)), b = light(backdrop(node));
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < worst[0]) worst = [ratio, node.outerHTML.slice(0, 120)];
}
return worst;
"""
