// Sends GitHub requests directly or through the administrator's proxy, which receives only CONNECT requests and the
// proxy's own credential.
import { ProxyAgent, fetch as fetchWith } from 'undici'
import type { Octokit } from '@octokit/rest'
import { findProxyForUrl, formatBasicAuthorization, type ProxyServer } from '../../ports/proxy.ts'

/** https://docs.github.com/rest/about-the-rest-api/api-versions */
export const githubApiVersion = '2022-11-28'

const githubApiVersionHeader = 'x-github-api-version'

/** Reads, and the token they need. A request with a rejected version did nothing, so repeating it is safe. */
const isSafeToRepeatRequest = (method: string, url: string): boolean =>
  method === 'GET' || (method === 'POST' && url.endsWith('/access_tokens'))

/** GitHub: `The version you specified in the "X-GitHub-API-Version" request header, "…", is not a supported version.` */
const isUnsupportedVersionError = (error: unknown): boolean =>
  error instanceof Error &&
  (error as { status?: number }).status === 400 &&
  /not a supported version/.test(error.message)

const discardLogMessage = () => undefined

/** The `log` option of an Octokit: callers report errors themselves. */
export const silentOctokitLog = {
  debug: discardLogMessage,
  info: discardLogMessage,
  warn: discardLogMessage,
  error: discardLogMessage,
}

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

/** The `request` option of an Octokit: successful answers are already parsed. */
export const octokitRequestOptions = {
  parseSuccessResponseBody: false,
  fetch: async (input: string | URL | Request, init?: RequestInit): Promise<unknown> => {
    const answer = await fetchFromGitHub(input, init)
    return isSuccessStatusWithBody(answer.status)
      ? toParsedResponse(answer, await answer.text(), init?.method)
      : answer
  },
} as const

/** One per proxy, to reuse connections. */
const proxyAgentByProxyUrl = new Map<string, ProxyAgent>()

export async function fetchFromGitHub(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const proxy = findProxyForUrl(new URL(input instanceof Request ? input.url : input), process.env)
  if (proxy === undefined) return fetch(input, init)
  // The same fetch, with separately declared types.
  const options = { ...init, dispatcher: getProxyAgent(proxy) } as unknown as Parameters<typeof fetchWith>[1]
  return fetchWith(input as string | URL, options)
}

function getProxyAgent({ url, credential }: ProxyServer): ProxyAgent {
  const token = credential && formatBasicAuthorization(credential)
  const key = `${url} ${token ?? ''}`
  const known = proxyAgentByProxyUrl.get(key)
  if (known !== undefined) return known
  const agent = new ProxyAgent({ uri: url, ...(token !== undefined && { token }) })
  proxyAgentByProxyUrl.set(key, agent)
  return agent
}

/** A field that the response to a GET request must have, by the end of its path. `[]`: a list of objects. */
const requiredFields: readonly (readonly [path: RegExp, field: string])[] = [
  [/\/repos\/[^/]+\/[^/]+$/, 'default_branch'],
  [/\/pulls\/\d+$/, 'head'],
  [/\/git\/ref\/.+$/, 'object'],
  [/\/check-runs$/, 'check_runs'],
  [/\/memberships\/[^/]+$/, 'state'],
  [/\/installation\/repositories$/, 'repositories'],
  [/\/repos\/[^/]+\/[^/]+\/(?:branches|pulls|(?:pulls|issues)\/\d+\/(?:comments|reviews))$/, '[]'],
]

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** False for a document that a proxy or a failing server sent instead of the requested one. */
function hasRequiredFields(url: string, body: unknown): boolean {
  const { pathname } = new URL(url)
  const field = requiredFields.find(([path]) => path.test(pathname))?.[1]
  if (field === undefined) return true
  return field === '[]' ? Array.isArray(body) && body.every(isObject) : isObject(body) && field in body
}

/**
 * Parses GitHub's answers with a single JSON.parse. Octokit's own parser calls a function for each value of an answer,
 * to make large integers exact, and takes ten times as long in the process that answers deliveries. GitHub's ids are
 * far below 2^53; a larger id is rejected where ids are parsed (pull-request/ids.ts). Throws a SyntaxError for a response
 * that a proxy replaced or cut off, which Octokit would read as text, or as an empty list, and for another document.
 */
export function toParsedResponse(
  answer: Omit<ParsedResponse, 'body'>,
  text: string,
  method = 'GET',
): ParsedResponse {
  const { status, url, headers } = answer
  const body = JSON.parse(text) as unknown
  if (method === 'GET' && !hasRequiredFields(url, body))
    throw new SyntaxError('the response is not the requested document')
  return { status, url, headers, body }
}

/**
 * Sends the REST API version with every request. If an older server rejects it, requests go without it. An Octokit
 * plugin. `onRejected` is called once, with a sentence for administrators, when the server rejects the version. Later
 * requests don't send it.
 */
export function createApiVersionPlugin(onRejected: (why: string) => void) {
  let isKnown = true
  return (octokit: Pick<Octokit, 'hook' | 'request'>): Record<string, never> => {
    octokit.hook.before('request', (request) => {
      // Copied, because all requests can share the headers.
      if (isKnown) request.headers = { ...request.headers, [githubApiVersionHeader]: githubApiVersion }
    })
    octokit.hook.wrap('request', async (request, options) => {
      try {
        return await request(options)
      } catch (error) {
        if (!isUnsupportedVersionError(error) || options.headers[githubApiVersionHeader] === undefined)
          throw error
        if (isKnown)
          onRejected(
            `this GitHub server does not support REST API version ${githubApiVersion}; catalog-bot sends requests without a version`,
          )
        isKnown = false
        if (!isSafeToRepeatRequest(options.method, options.url)) throw error
        // Octokit's hooks pass on the original options.
        delete options.headers[githubApiVersionHeader]
        return await request(options)
      }
    })
    return {}
  }
}
