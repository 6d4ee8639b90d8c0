// The command line uses this socket because the embedded database accepts a single process. Access is granted by write
// permission on the data folder; nothing listens on the network.
import { tryParseJson } from '@catalog-bot/fbc/go/json/json'
import { rmSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { relative, resolve } from 'node:path'
import type { Logger } from 'pino'
import { handleFreezeRequest, freezeRequestSchema } from '../merge/manage-freezes.ts'
import type { MergeFreezeStore } from '../ports/merge-records.ts'

/** Operating systems limit socket paths to 104 or 108 bytes. */
const maxSocketPathBytes = 100
const maxControlRequestBodyLength = 10_000

/** Returns undefined if the path would be too long. */
export function getControlSocketPath(dataDirectory: string): string | undefined {
  const path = resolve(dataDirectory, 'control.sock')
  const shorter = relative('', path)
  return [path, shorter].find((each) => Buffer.byteLength(each) <= maxSocketPathBytes)
}

/** The caller must have the data folder's lock, because this function removes a socket that an earlier process left. */
export async function startControlSocketServer(
  dataDirectory: string,
  { store, log }: { readonly store: MergeFreezeStore; readonly log: Logger },
): Promise<{ close(): Promise<void> }> {
  const path = getControlSocketPath(dataDirectory)
  if (path === undefined) {
    log.warn({ dataDirectory }, 'the path to the data folder is too long for the control socket')
    return { close: () => Promise.resolve() }
  }
  const server = createServer((request, response) => {
    const respond = (status: number, value: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    readJsonRequestBody(request)
      .then(async (body) => {
        const parsed = freezeRequestSchema.safeParse(body)
        if (!parsed.success)
          return respond(400, { error: 'the running catalog-bot does not recognize this request' })
        const done = await handleFreezeRequest(parsed.data, store)
        if (parsed.data.verb !== 'list') log.info({ ...parsed.data }, 'a CLI command changed a merge freeze')
        return respond(200, done)
      })
      .catch((error: unknown) => {
        log.error({ err: error }, 'a CLI request failed')
        respond(500, { error: 'the running catalog-bot could not handle the request; see its log' })
      })
  })
  server.requestTimeout = 10_000
  rmSync(path, { force: true })
  await new Promise<void>((done, failed) => {
    server.once('error', failed)
    // The socket is made before listen() returns; it is never open to other accounts.
    const umask = process.umask(0o177)
    server.listen(path, done)
    process.umask(umask)
  })
  return {
    close: async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

async function readJsonRequestBody(request: IncomingMessage): Promise<unknown> {
  let text = ''
  request.setEncoding('utf8')
  for await (const chunk of request) {
    text += String(chunk)
    if (text.length > maxControlRequestBodyLength) return undefined
  }
  return tryParseJson(text)
}
