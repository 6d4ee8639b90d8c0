// Decides whether output is colored: by https://no-color.org and https://force-color.org, otherwise only on a terminal.

export function supportsColor(stream: { readonly isTTY?: boolean }, environment = process.env): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = environment
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '') return !['0', 'false'].includes(FORCE_COLOR)
  if (NO_COLOR !== undefined && NO_COLOR !== '') return false
  return stream.isTTY === true && TERM !== 'dumb'
}
