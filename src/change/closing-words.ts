// The issues and pull requests that GitHub closes because of a commit message.
// https://docs.github.com/en/issues/tracking-your-work-with-issues/linking-a-pull-request-to-an-issue

export interface ClosedByWords {
  /** `owner/name` in lower case; absent for the commit's own repository. */
  readonly repository?: string
  readonly number: number
}

/** Real messages close fewer; the limit bounds the work. */
const mostClosed = 200

const reference =
  /\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?) ?:? ?(?:(?:https?:\/\/[\w.:-]{1,200}\/)?(?<repository>[\w.-]{1,100}\/[\w.-]{1,100}?)(?:#|\/(?:issues|pull|pulls)\/)|#|gh-)(?<number>\d{1,10})(?!\d)/giu

/** Without duplicates, in order. */
export function closedByWords(message: string): readonly ClosedByWords[] {
  const found = new Map<string, ClosedByWords>()
  const line = message.normalize('NFKC').replace(/\s+/g, ' ')
  for (const { groups = {} } of line.matchAll(reference)) {
    const repository = groups['repository']?.toLowerCase()
    const number = Number(groups['number'])
    found.set(`${repository ?? ''}#${number}`, { ...(repository !== undefined && { repository }), number })
    if (found.size >= mostClosed) break
  }
  return [...found.values()]
}
