// How GitHub is asked: by the platform's fetch, or through the operator's proxy. What a proxy is sent is CONNECT and its own
// credential; it sees no token.
import { ProxyAgent, fetch as fetchWith } from 'undici'
import { proxyFor, type Proxy } from '../ports/proxy.ts'

/** One each, for its connections to be used again. */
const agents = new Map<string, ProxyAgent>()

export async function githubFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const proxy = proxyFor(new URL(input instanceof Request ? input.url : input), process.env)
  if (proxy === undefined) return fetch(input, init)
  // The same fetch, of the same makers; its types are declared twice.
  const options = { ...init, dispatcher: agentFor(proxy) } as unknown as Parameters<typeof fetchWith>[1]
  return fetchWith(input as string | URL, options)
}

function agentFor({ address, credential }: Proxy): ProxyAgent {
  const token =
    credential && `Basic ${Buffer.from(`${credential.username}:${credential.password}`).toString('base64')}`
  const key = `${address} ${token ?? ''}`
  const known = agents.get(key)
  if (known !== undefined) return known
  const agent = new ProxyAgent({ uri: address, ...(token !== undefined && { token }) })
  agents.set(key, agent)
  return agent
}
