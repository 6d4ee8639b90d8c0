// Decides what to do with the issue about missing images. If a person closes it, only a newly missing image reopens it.

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
 * `wanted`: the issue's text; undefined when every image exists. `hasNews`: whether it names an image that the issue
 * has not named before.
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
