/** Prints rows of cells in columns under their heads, which stand there for an empty list too. */
export function printTable(heads: readonly string[], rows: readonly (readonly string[])[]): void {
  const lines = [heads, ...rows];
  const widths = heads.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  for (const line of lines)
    console.log(
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    );
}
