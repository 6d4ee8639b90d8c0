/** `a, b, c`; of more than `most` names the first ones, `and 12 more`. */
export function formatTruncatedNames(names: readonly string[], maxNames = 5): string {
  return names.length <= maxNames
    ? names.join(', ')
    : `${names.slice(0, maxNames).join(', ')} and ${names.length - maxNames} more`
}

export function formatBytes(bytes: number): string {
  return bytes < 1024
    ? `${bytes} bytes`
    : bytes < 1024 * 1024
      ? `${(bytes / 1024).toFixed(1)} KiB`
      : `${(bytes / 1024 / 1024).toFixed(1)} MiB`
}
