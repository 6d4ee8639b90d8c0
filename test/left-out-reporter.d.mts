export function countSkippedTests(
  reported: readonly { readonly absent: string; readonly file: string }[],
  skipped: readonly (readonly [file: string, count: number])[],
): Map<string, number>
export function formatSkippedTests(counts: ReadonlyMap<string, number>): string
