// How GitHub's answers are read: by JSON.parse, in one go. Octokit's own reading calls a function for each value of an answer,
// to make large integers exact, and takes ten times as long in the process that answers deliveries. GitHub's ids are far
// below 2^53; an id that is not is refused where it is taken for one (change/ids.ts).
import { githubFetch } from './github-fetch.ts'

const isJson = (type: string | null): boolean => /^application\/(?:[\w.+-]+\+)?json\b/i.test(type ?? '')

/** What Octokit reads of an answer that is no error. */
export interface PlainAnswer {
  readonly status: number
  readonly url: string
  readonly headers: Headers
  readonly body: unknown
}

/** Errors, and answers without a body, are left to Octokit, which makes its messages of them. */
export const isPlain = (status: number): boolean => status < 300 && status !== 204 && status !== 205

export function plainAnswer(answer: Omit<PlainAnswer, 'body'>, text: string): PlainAnswer {
  const { status, url, headers } = answer
  return { status, url, headers, body: isJson(headers.get('content-type')) ? parsed(text) : text }
}

/** What an Octokit is given as `request`: answers that are no errors come as values already. */
export const plainAnswers = {
  parseSuccessResponseBody: false,
  fetch: async (input: string | URL | Request, init?: RequestInit): Promise<unknown> => {
    const answer = await githubFetch(input, init)
    return isPlain(answer.status) ? plainAnswer(answer, await answer.text()) : answer
  },
} as const

/** What is no JSON, whatever it is called, stays what it is. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
