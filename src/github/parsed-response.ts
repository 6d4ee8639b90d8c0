// How MockGitHub's answers are read: by JSON.parse, in one go. Octokit's own reading calls a function for each value of an answer,
// to make large integers exact, and takes ten times as long in the process that answers deliveries. MockGitHub's ids are far
// below 2^53; an id that is not is refused where it is taken for one (change/ids.ts).
import { fetchFromGitHub } from './github-fetch.ts'

const isJsonType = (type: string | null): boolean => /^application\/(?:[\w.+-]+\+)?json\b/i.test(type ?? '')

/** What Octokit reads of an answer that is no error. */
export interface ParsedResponse {
  readonly status: number
  readonly url: string
  readonly headers: Headers
  readonly body: unknown
}

/** Errors, and answers without a body, are left to Octokit, which makes its messages of them. */
export const isSuccessWithBody = (status: number): boolean => status < 300 && status !== 204 && status !== 205

export function toParsedResponse(answer: Omit<ParsedResponse, 'body'>, text: string): ParsedResponse {
  const { status, url, headers } = answer
  return { status, url, headers, body: isJsonType(headers.get('content-type')) ? parseBody(text) : text }
}

/** What an Octokit is given as `request`: answers that are no errors come as values already. */
export const parsedResponseOptions = {
  parseSuccessResponseBody: false,
  fetch: async (input: string | URL | Request, init?: RequestInit): Promise<unknown> => {
    const answer = await fetchFromGitHub(input, init)
    return isSuccessWithBody(answer.status) ? toParsedResponse(answer, await answer.text()) : answer
  },
} as const

/** What is no JSON, whatever it is called, stays what it is. */
function parseBody(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
