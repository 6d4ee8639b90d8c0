/** GitHub rejects longer comments and summaries (65,536 and 65,535). Leaves room for the footer. */
export const maxGitHubTextLength = 60_000

export function truncateText(text: string): string {
  if (text.length <= maxGitHubTextLength) return text
  const end = text.lastIndexOf('\n', maxGitHubTextLength)
  return `${text.slice(0, end > 0 ? end : maxGitHubTextLength)}\n\n… This text is too long for GitHub. To see all of it, run catalog-bot check.`
}
