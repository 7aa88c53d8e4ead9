// Tables that read well both in a terminal and as Markdown.

/** @param rows arrays of texts and numbers, one per column; the first column is flush left, the others flush right */
export function markdownTable(columns, rows) {
  const lines = [columns, ...rows].map((cells) => cells.map((cell) => String(cell).replaceAll('|', '\\|')));
  const widths = columns.map((_, column) => Math.max(3, ...lines.map((cells) => cells[column].length)));
  const line = (cells) => `| ${cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join(' | ')} |`;
  const rule = `| ${widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`;
  return [line(lines[0]), rule, ...lines.slice(1).map(line)].join('\n');
}
