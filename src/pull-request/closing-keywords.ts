// Finds the issues and pull requests that GitHub closes because of a commit message.
// https://docs.github.com/en/issues/tracking-your-work-with-issues/linking-a-pull-request-to-an-issue

export interface ClosingReference {
  /** `owner/name` in lower case; absent for the commit's own repository. */
  readonly repository?: string
  readonly number: number
}

/** Real messages close fewer. The limit bounds the processing time. */
const maxClosingReferences = 200

const closingKeywordPattern =
  /\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?) ?:? ?(?:(?:https?:\/\/[\w.:-]{1,200}\/)?(?<repository>[\w.-]{1,100}\/[\w.-]{1,100}?)(?:#|\/(?:issues|pull|pulls)\/)|#|gh-)(?<number>\d{1,10})(?!\d)/giu

/** Without duplicates, in order. */
export function findClosingReferences(message: string): readonly ClosingReference[] {
  const found = new Map<string, ClosingReference>()
  const line = message.normalize('NFKC').replace(/\s+/g, ' ')
  for (const { groups = {} } of line.matchAll(closingKeywordPattern)) {
    const repository = groups['repository']?.toLowerCase()
    const number = Number(groups['number'])
    found.set(`${repository ?? ''}#${number}`, { ...(repository !== undefined && { repository }), number })
    if (found.size >= maxClosingReferences) break
  }
  return [...found.values()]
}
