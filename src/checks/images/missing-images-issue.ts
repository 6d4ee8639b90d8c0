// Decides what to do with the issue about missing images. If a user closes it, only a newly missing image reopens it.

export interface ExistingIssue {
  readonly state: 'open' | 'closed'
  readonly title: string
  readonly body: string
}

export interface DesiredIssue {
  readonly title: string
  readonly body: string
}

export type MissingImagesIssueAction = 'open' | 'edit' | 'close' | 'reopen' | 'nothing'

/**
 * `wanted`: the issue's text; undefined if every image exists. `hasNews`: whether it lists an image that the issue has
 * not listed before.
 */
export function decideMissingImagesIssueAction(
  shown: ExistingIssue | undefined,
  wanted: DesiredIssue | undefined,
  hasNews: boolean,
): MissingImagesIssueAction {
  if (wanted === undefined) return shown?.state === 'open' ? 'close' : 'nothing'
  if (shown === undefined) return 'open'
  if (shown.state === 'closed') return hasNews ? 'reopen' : 'nothing'
  return shown.title === wanted.title && shown.body === wanted.body ? 'nothing' : 'edit'
}
