/** Prints rows of cells in columns under their heads, which stand there for an empty list too. */
export function printTable(heads: readonly string[], rows: readonly (readonly string[])[]): void {
  const lines = [heads, ...rows];
  // Not Math.max(...lines), which takes no more than some 120,000: anybody may have made more keys.
  const widths = heads.map((_, column) => lines.reduce((most, line) => Math.max(most, line[column]?.length ?? 0), 0));
  for (const line of lines)
    console.log(
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    );
}
