/** Makes the fence longer than every run of backticks in the text, so that the text cannot end the block. */
export function renderFencedBlock(language: string, text: string): string {
  const maxRunLength = Math.max(2, ...[...text.matchAll(/`+/g)].map((run) => run[0].length))
  const fence = '`'.repeat(maxRunLength + 1)
  return `${fence}${language}\n${text}\n${fence}`
}
