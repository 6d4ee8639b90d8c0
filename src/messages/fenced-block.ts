// Text as a block of code in Markdown. The text cannot end the block, whatever it holds.

/** A fence longer than every run of backticks in the text. */
export function fencedBlock(language: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((run) => run[0].length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text}\n${fence}`
}
