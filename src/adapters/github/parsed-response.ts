// Parses GitHub's answers with a single JSON.parse. Octokit's own parser calls a function for each value of an answer,
// to make large integers exact, and takes ten times as long in the process that answers deliveries. GitHub's ids are far
// below 2^53; a larger id is rejected where ids are parsed (pull-request/ids.ts).
import { fetchFromGitHub } from './github-fetch.ts'

const isJsonMediaType = (type: string | null): boolean =>
  /^application\/(?:[\w.+-]+\+)?json\b/i.test(type ?? '')

/** The parts of a successful answer that Octokit reads. */
export interface ParsedResponse {
  readonly status: number
  readonly url: string
  readonly headers: Headers
  readonly body: unknown
}

/** Octokit handles errors and answers without a body, and builds its messages from them. */
export const isSuccessStatusWithBody = (status: number): boolean =>
  status < 300 && status !== 204 && status !== 205

export function toParsedResponse(answer: Omit<ParsedResponse, 'body'>, text: string): ParsedResponse {
  const { status, url, headers } = answer
  return {
    status,
    url,
    headers,
    body: isJsonMediaType(headers.get('content-type')) ? parseJsonOrReturnText(text) : text,
  }
}

/** The `request` option of an Octokit: successful answers are already parsed. */
export const parsedResponseOptions = {
  parseSuccessResponseBody: false,
  fetch: async (input: string | URL | Request, init?: RequestInit): Promise<unknown> => {
    const answer = await fetchFromGitHub(input, init)
    return isSuccessStatusWithBody(answer.status) ? toParsedResponse(answer, await answer.text()) : answer
  },
} as const

/** A body that is not JSON is returned unchanged, regardless of its content type. */
function parseJsonOrReturnText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
