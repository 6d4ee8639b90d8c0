// Tracks a repository's problem in one issue, which is opened, edited, and closed along with the problem.
import type { BotIssue, Forge } from '../ports/forge.ts'

interface IssueText {
  readonly title: string
  readonly body: string
}

type IssueAction = 'open' | 'edit' | 'close' | 'reopen' | 'nothing'

export interface TrackedIssue {
  /** The hidden first line of every body. */
  readonly marker: string
  /** The issue's number, if it was recorded. */
  readonly number?: number | undefined
  /** Absent if the problem is solved. */
  readonly desired: IssueText | undefined
  /** What to do with an issue that a user closed although the problem remains. */
  readonly whenClosed: (shown: BotIssue | undefined) => Extract<IssueAction, 'edit' | 'reopen' | 'nothing'>
  /** Absent for an issue that only users close. The comment is written once per marker, above the closing event. */
  readonly solved?: IssueText & {
    readonly comment: string
    readonly commentMarker: (shown: BotIssue) => string
  }
}

export function decideIssueAction(
  shown: Omit<BotIssue, 'number'> | undefined,
  desired: IssueText | undefined,
  whenClosed: IssueAction,
): IssueAction {
  if (desired === undefined) return shown?.state === 'open' ? 'close' : 'nothing'
  if (shown === undefined) return 'open'
  if (shown.state === 'closed') return whenClosed
  return shown.body === desired.body ? 'nothing' : 'edit'
}

/** Returns what was done, and the issue's number if there is one. Rejects with a ForgeError. */
export async function updateTrackedIssue(
  { marker, number: recorded, desired, whenClosed, solved }: TrackedIssue,
  forge: Pick<Forge, 'findOwnIssue' | 'perform'>,
): Promise<{ readonly action: IssueAction; readonly number: number | undefined }> {
  const shown = await forge.findOwnIssue(marker, recorded)
  const action = decideIssueAction(shown, desired, whenClosed(shown))
  if (shown === undefined)
    return { action, number: desired && (await forge.perform({ kind: 'open-issue', ...desired })).issue }
  const { number } = shown
  if (action === 'close' && solved) {
    const { comment, commentMarker, ...text } = solved
    await forge.perform({ kind: 'say-on-issue', issue: number, marker: commentMarker(shown), body: comment })
    await forge.perform({ kind: 'edit-issue', issue: number, ...text, state: 'closed' })
  } else if (desired && (action === 'edit' || action === 'reopen'))
    await forge.perform({
      kind: 'edit-issue',
      issue: number,
      ...desired,
      ...(action === 'reopen' && { state: 'open' as const }),
    })
  return { action, number }
}
