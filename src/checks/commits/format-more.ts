export function formatOmittedCountSuffix(more: number): string {
  return more === 0 ? '' : ` (and ${more} more)`
}
