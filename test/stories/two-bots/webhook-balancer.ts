// The load balancer before several instances of the bot: each delivery goes to the next instance that listens. A
// delivery to an instance that dies at that moment is lost, as at GitHub.
import { createServer, request as ask } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface WebhookBalancer {
  readonly url: string
  stop(): Promise<void>
}

/** `addresses`: the current addresses of the instances, read for each delivery. */
export async function startWebhookBalancer(addresses: () => readonly string[]): Promise<WebhookBalancer> {
  let nextIndex = 0
  const server = createServer((incoming, answer) => {
    const listening = addresses()
    const to = listening[nextIndex++ % Math.max(1, listening.length)]
    if (to === undefined) return void answer.writeHead(503).end()
    const onward = ask(
      `${to}${incoming.url ?? '/'}`,
      { method: incoming.method, headers: incoming.headers, agent: false },
      (reply) => {
        answer.writeHead(reply.statusCode ?? 502, reply.headers)
        reply.pipe(answer)
        reply.once('error', () => answer.destroy())
      },
    )
    onward.once('error', () => (answer.headersSent ? answer.destroy() : answer.writeHead(502).end()))
    incoming.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/github/webhooks`,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
