// Decides what to do for a workflow event. Rejects unknown events, and events that combine secrets or a write token with
// untrusted content, regardless of what was checked out.
import { z } from 'zod'

export type ActionRunPlan =
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

/** These events run code from a branch of the repository, or from a merge group whose pull requests were already checked. */
const validationEventNames: ReadonlySet<string> = new Set([
  'merge_group',
  'push',
  'schedule',
  'workflow_dispatch',
])

/** For pull requests from forks, GitHub guarantees a read-only token and no secrets only for the event `pull_request`. */
const pullRequestPayloadSchema = z.object({
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

export function planActionRun(event: string | undefined, payload: unknown): ActionRunPlan {
  if (event === 'pull_request') {
    const read = pullRequestPayloadSchema.safeParse(payload)
    if (!read.success) return { kind: 'refused', why: 'the event does not identify a pull request' }
    const { number, user, head, base } = read.data.pull_request
    return {
      kind: 'check',
      pull: number,
      author: `${user.login}:${user.id}`,
      baseRef: base.ref,
      head: head.sha,
    }
  }
  if (event !== undefined && validationEventNames.has(event)) return { kind: 'validate' }
  return {
    kind: 'refused',
    why: `catalog-bot rejects ${event === undefined ? 'runs without an event' : `the event ${event}`}, because it might expose secrets or a write token to untrusted code. Use "on: pull_request"`,
  }
}
