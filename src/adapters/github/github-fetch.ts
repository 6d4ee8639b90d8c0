// Sends GitHub requests directly or through the administrator's proxy, which only sees CONNECT and its own credential.
import { ProxyAgent, fetch as fetchWith } from 'undici'
import { selectProxy, type ProxyServer } from '../../ports/proxy.ts'

/** One per proxy, to reuse connections. */
const proxyAgentByProxyUrl = new Map<string, ProxyAgent>()

export async function fetchFromGitHub(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const proxy = selectProxy(new URL(input instanceof Request ? input.url : input), process.env)
  if (proxy === undefined) return fetch(input, init)
  // The same fetch, with separately declared types.
  const options = { ...init, dispatcher: getProxyAgent(proxy) } as unknown as Parameters<typeof fetchWith>[1]
  return fetchWith(input as string | URL, options)
}

function getProxyAgent({ url, credential }: ProxyServer): ProxyAgent {
  const token =
    credential && `Basic ${Buffer.from(`${credential.username}:${credential.password}`).toString('base64')}`
  const key = `${url} ${token ?? ''}`
  const known = proxyAgentByProxyUrl.get(key)
  if (known !== undefined) return known
  const agent = new ProxyAgent({ uri: url, ...(token !== undefined && { token }) })
  proxyAgentByProxyUrl.set(key, agent)
  return agent
}
