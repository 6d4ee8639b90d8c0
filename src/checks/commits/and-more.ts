export function andMore(more: number): string {
  return more === 0 ? '' : ` and of ${more} more`
}
