// Sends the REST API version with every request. If an older server rejects it, requests go without it.
import type { Octokit } from '@octokit/rest'

/** https://docs.github.com/rest/about-the-rest-api/api-versions */
export const githubApiVersion = '2022-11-28'

const githubApiVersionHeader = 'x-github-api-version'

/** Reads, and the token they need. A request with a rejected version did nothing, so repeating it is safe. */
const isSafeToRepeatRequest = (method: string, url: string): boolean =>
  method === 'GET' || (method === 'POST' && url.endsWith('/access_tokens'))

/**
 * An Octokit plugin. `onRejected` is called once, with a sentence for administrators, when the server rejects our version.
 * Afterwards no request sends it.
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

/** GitHub: `The version you specified in the "X-GitHub-API-Version" request header, "…", is not a supported version.` */
const isUnsupportedVersionError = (error: unknown): boolean =>
  error instanceof Error &&
  (error as { status?: number }).status === 400 &&
  /not a supported version/.test(error.message)
