export function countLeftOut(
  reported: readonly { readonly absent: string; readonly file: string }[],
  skipped: readonly (readonly [file: string, count: number])[],
): Map<string, number>
export function describeLeftOut(counts: ReadonlyMap<string, number>): string
