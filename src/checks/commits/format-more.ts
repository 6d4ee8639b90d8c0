export function formatMoreSuffix(more: number): string {
  return more === 0 ? '' : ` (and ${more} more)`
}
