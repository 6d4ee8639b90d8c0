// Sends GitHub requests directly or through the operator's proxy, which only sees CONNECT and its own credential.
import { ProxyAgent, fetch as fetchWith } from 'undici'
import { proxyFor, type Proxy } from '../ports/proxy.ts'

/** One per proxy, to reuse connections. */
const agents = new Map<string, ProxyAgent>()

export async function githubFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const proxy = proxyFor(new URL(input instanceof Request ? input.url : input), process.env)
  if (proxy === undefined) return fetch(input, init)
  // The same fetch, with separately declared types.
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
