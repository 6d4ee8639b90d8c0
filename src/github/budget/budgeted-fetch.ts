// An Octokit's fetch within an installation's budget. Each attempt, including retries, waits for leave, revalidates
// kept answers and reports GitHub's limits. A request that may not be sent gets a GitHub-like answer here.
import { githubFetch } from '../github-fetch.ts'
import { readQuota, readRefusal, type Quota } from '../limit-answer.ts'
import { isPlain, plainAnswer, type PlainAnswer } from '../plain-answers.ts'
import type { Budget } from './budget.ts'
import type { Hindrance } from './patience.ts'
import { keyOf, type KeptAnswer, type KeptAnswers } from './kept-answers.ts'
import { costOf, type Resource } from './request-cost.ts'
import type { WorkClass } from './work-class.ts'

/** Marks answers to requests that were never sent. */
export const heldHeader = 'x-catalog-bot-held'

export interface FetchEvents {
  onQuota(quota: Quota & { readonly resource: Resource }): void
  onAnswer(how: 'sent' | 'unchanged' | 'refused' | 'held', work: WorkClass): void
}

export interface BudgetedFetchOptions {
  readonly budget: Budget
  readonly kept: KeptAnswers
  readonly work: WorkClass
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly events: FetchEvents
}

type Fetch = (input: string, init?: RequestInit) => Promise<Response | PlainAnswer>

export function budgetedFetch({ budget, kept, work, now, events }: BudgetedFetchOptions): Fetch {
  let hasBegun = false
  return async (url, init = {}) => {
    const cost = costOf(init.method ?? 'GET', url, init.body)
    const pass = await budget.enter({ ...cost, work, hasBegun })
    if (pass.kind === 'held') {
      events.onAnswer('held', work)
      return heldAnswer(pass.why, pass.milliseconds)
    }
    hasBegun ||= !cost.isForToken
    try {
      const key = (init.method ?? 'GET') === 'GET' ? keyOf(url, new Headers(init.headers)) : undefined
      const known = key === undefined ? undefined : kept.get(key)
      const answer = await githubFetch(url, known === undefined ? init : ifChanged(init, known))
      const bytes = isPlain(answer.status) ? Buffer.from(await answer.arrayBuffer()) : undefined
      const plain = bytes && plainAnswer(answer, bytes.toString())
      const header = (name: string) => answer.headers.get(name)
      const quota = readQuota(header, now())
      const refusal = readRefusal(answer.status, header, await saidIn(answer, plain, cost.resource))
      pass.heard({ quota, refusal, isFailure: answer.status >= 500 })
      if (quota !== undefined && !cost.isForToken)
        events.onQuota({ ...quota, resource: quota.resource ?? cost.resource })
      events.onAnswer(
        refusal === undefined ? (answer.status === 304 ? 'unchanged' : 'sent') : 'refused',
        work,
      )
      if (answer.status === 304 && known !== undefined)
        return plainAnswer(
          { status: 200, url: answer.url, headers: renewed(known.headers, answer.headers) },
          known.body.toString(),
        )
      // A server error doesn't invalidate the kept answer.
      if (key !== undefined && refusal === undefined && answer.status < 500)
        kept.put(key, keepable(answer, bytes))
      return plain ?? answer
    } finally {
      pass.end()
    }
  }
}

/** With `no-cache`, as browsers revalidate. Otherwise fetch sends headers that refuse cached answers. */
function ifChanged(init: RequestInit, { etag }: KeptAnswer): RequestInit {
  const headers = new Headers(init.headers)
  headers.set('if-none-match', etag)
  return { ...init, headers, cache: 'no-cache' }
}

function keepable({ status, headers }: Response, body: Buffer | undefined): KeptAnswer | undefined {
  const etag = headers.get('etag')
  return status !== 200 || etag === null || body === undefined
    ? undefined
    : { etag, headers: [...headers], body }
}

/** GitHub's message, if a limit may be the reason. */
async function saidIn(answer: Response, plain: PlainAnswer | undefined, resource: Resource): Promise<string> {
  if (answer.status === 403) return messageIn(await answer.clone().text())
  if (resource !== 'graphql' || plain === undefined) return ''
  const { errors } = (plain.body ?? {}) as { errors?: unknown }
  if (!Array.isArray(errors)) return ''
  return (errors as unknown[])
    .map((error) => {
      const { type, message } = (error ?? {}) as { type?: unknown; message?: unknown }
      return `${String(type)}\n${String(message)}`
    })
    .join('\n')
}

function messageIn(text: string): string {
  try {
    const { message } = JSON.parse(text) as { message?: unknown }
    return typeof message === 'string' ? message : ''
  } catch {
    return text
  }
}

/** The kept headers with the new limit headers. */
function renewed(old: readonly (readonly [string, string])[], fresh: Headers): Headers {
  const headers = new Headers(old.map(([name, value]): [string, string] => [name, value]))
  for (const [name, value] of fresh)
    if (name === 'date' || name === 'etag' || name.startsWith('x-ratelimit-')) headers.set(name, value)
  return headers
}

/** A 403, which no plugin repeats. */
function heldAnswer(why: Hindrance, milliseconds: number): Response {
  const message = 'not sent: what is left of the limit does not allow it now'
  return Response.json(
    { message },
    {
      status: 403,
      headers: { [heldHeader]: why, 'retry-after': String(Math.max(1, Math.ceil(milliseconds / 1000))) },
    },
  )
}
