// What a workflow's event asks for. Events that bring secrets, or a token that may write, together with what a stranger wrote are
// refused, whatever was checked out; so is every event that nobody here knows.
import { z } from 'zod'

export type ActionRun =
  | {
      readonly kind: 'check'
      readonly pull: number
      /** `login:id`. */
      readonly author: string
      readonly baseRef: string
      readonly head: string
    }
  | { readonly kind: 'validate' }
  | { readonly kind: 'refused'; readonly why: string }

/** What runs is what the repository has on a branch of its own, or a queue's merge of what was checked before. */
const eventsToValidate: ReadonlySet<string> = new Set([
  'merge_group',
  'push',
  'schedule',
  'workflow_dispatch',
])

/** Only of a fork's `pull_request` does GitHub promise a token that reads and no secrets. */
const pullRequestPayload = z.object({
  pull_request: z.object({
    number: z.number().int().positive(),
    user: z.object({
      login: z.string().regex(/^[A-Za-z0-9-]+(?:\[bot\])?$/),
      id: z.number().int().positive(),
    }),
    head: z.object({ sha: z.string().regex(/^[0-9a-f]{40}$/) }),
    base: z.object({ ref: z.string().min(1) }),
  }),
})

export function decideActionRun(event: string | undefined, payload: unknown): ActionRun {
  if (event === 'pull_request') {
    const read = pullRequestPayload.safeParse(payload)
    if (!read.success)
      return { kind: 'refused', why: 'the event does not say which pull request it is about' }
    const { number, user, head, base } = read.data.pull_request
    return {
      kind: 'check',
      pull: number,
      author: `${user.login}:${user.id}`,
      baseRef: base.ref,
      head: head.sha,
    }
  }
  if (event !== undefined && eventsToValidate.has(event)) return { kind: 'validate' }
  return {
    kind: 'refused',
    why: `it does not run on ${event ?? 'no event'}: there a stranger's pull request may stand beside secrets and a token that may write. Use "on: pull_request"`,
  }
}
