// The version of GitHub's REST interface that we are written for, sent with every request. An older server may refuse to
// hear of it: it is asked again without, which it said itself is the way.
import type { Octokit } from '@octokit/rest'

/** https://docs.github.com/rest/about-the-rest-api/api-versions */
export const apiVersion = '2022-11-28'

const header = 'x-github-api-version'

/** Requests that may be sent twice: reads, and the token without which there are none. A refused version did nothing. */
const mayRepeat = (method: string, url: string): boolean =>
  method === 'GET' || (method === 'POST' && url.endsWith('/access_tokens'))

/**
 * A plugin for an Octokit. `refused` is called once, with a sentence for operators, when the server does not know our
 * version; from then on nobody who shares the plugin sends one.
 */
export function sendApiVersion(refused: (why: string) => void) {
  let isKnown = true
  return (octokit: Pick<Octokit, 'hook' | 'request'>): Record<string, never> => {
    octokit.hook.before('request', (request) => {
      if (isKnown) request.headers[header] = apiVersion
    })
    octokit.hook.wrap('request', async (request, options) => {
      try {
        return await request(options)
      } catch (error) {
        if (!saysUnsupported(error) || options.headers[header] === undefined) throw error
        if (isKnown)
          refused(
            `this GitHub does not know version ${apiVersion} of its REST interface: it is asked without one`,
          )
        isKnown = false
        if (!mayRepeat(options.method, options.url)) throw error
        const { [header]: _, ...headers } = options.headers
        return await request({ ...options, headers })
      }
    })
    return {}
  }
}

/** GitHub: `The version you specified in the "X-GitHub-API-Version" request header, "…", is not a supported version.` */
const saysUnsupported = (error: unknown): boolean =>
  error instanceof Error &&
  (error as { status?: number }).status === 400 &&
  /not a supported version/.test(error.message)
