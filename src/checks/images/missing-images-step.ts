// What is to be done about the one issue about missing images: open it, edit it, close it, open it again, or leave it
// alone. A person who closes it while images are gone has decided so; only a newly missing image opens it again.

/** The issue as GitHub shows it now. */
export interface ShownIssue {
  readonly state: 'open' | 'closed'
  readonly title: string
  readonly body: string
}

export interface WantedIssue {
  readonly title: string
  readonly body: string
}

export type IssueStep = 'open' | 'edit' | 'close' | 'reopen' | 'nothing'

/**
 * `wanted`: what the issue has to say; undefined when every image is there. `hasNews`: whether it names a missing image that the
 * issue has not named before.
 */
export function missingImagesStep(
  shown: ShownIssue | undefined,
  wanted: WantedIssue | undefined,
  hasNews: boolean,
): IssueStep {
  if (wanted === undefined) return shown?.state === 'open' ? 'close' : 'nothing'
  if (shown === undefined) return 'open'
  if (shown.state === 'closed') return hasNews ? 'reopen' : 'nothing'
  return shown.title === wanted.title && shown.body === wanted.body ? 'nothing' : 'edit'
}
