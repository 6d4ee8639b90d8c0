/** GitHub refuses longer comments and summaries (65,536 and 65,535); room is left for the closing words. */
export const maxText = 60_000

export function cutText(text: string): string {
  if (text.length <= maxText) return text
  const end = text.lastIndexOf('\n', maxText)
  return `${text.slice(0, end > 0 ? end : maxText)}\n\n… This text is too long for GitHub. Run catalog-bot check to see all of it.`
}
