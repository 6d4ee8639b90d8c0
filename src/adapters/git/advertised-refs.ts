// Reads refs from the server by one request, without the four processes and two requests of `git fetch`.
// https://git-scm.com/docs/protocol-v2 (ls-refs) and gitprotocol-http: version 2 needs no request before it.
import { readCredential, type GitRemote } from './remote.ts'

/** Milliseconds. Slower servers are left to git. */
const lsRefsTimeoutMs = 10_000
/** Bytes. The server also lists branches whose names start with the given one. */
const maxResponseBytes = 64 * 1024

/**
 * The positions of `refs`, without missing ones. Undefined: not learned this way (not http, another protocol, any
 * failure), so git asks and reports the error. Throws GitError `unauthorized` when there is no credential.
 */
export async function fetchAdvertisedRefs(
  remote: GitRemote,
  refs: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string> | undefined> {
  // Git handles proxies.
  if (remote.protocol === 'file' || remote.proxy !== undefined) return undefined
  const credential = await readCredential(remote)
  try {
    const response = await fetch(`${remote.url}/git-upload-pack`, {
      method: 'POST',
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(lsRefsTimeoutMs)]),
      headers: {
        'git-protocol': 'version=2',
        'content-type': 'application/x-git-upload-pack-request',
        accept: 'application/x-git-upload-pack-result',
        'user-agent': 'catalog-bot',
        ...(credential && { authorization: toBasicAuthHeader(credential.username, credential.password) }),
      },
      body: formatLsRefsRequest(refs),
    })
    if (response.status !== 200) {
      await response.body?.cancel()
      return undefined
    }
    const body = await readBody(response, maxResponseBytes)
    return body && parseLsRefsResponse(body, refs)
  } catch {
    return undefined
  }
}

function toBasicAuthHeader(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}

function formatLsRefsRequest(refs: readonly string[]): string {
  const line = (text: string) => `${(Buffer.byteLength(text) + 5).toString(16).padStart(4, '0')}${text}\n`
  return [
    line('command=ls-refs'),
    line('object-format=sha1'),
    '0001',
    ...refs.map((ref) => line(`ref-prefix ${ref}`)),
    '0000',
  ].join('')
}

async function readBody(response: Response, maxBytes: number): Promise<Buffer | undefined> {
  const parts: Uint8Array[] = []
  let size = 0
  const body: AsyncIterable<Uint8Array> | null = response.body
  for await (const part of body ?? []) {
    size += part.length
    if (size > maxBytes) return undefined
    parts.push(part)
  }
  return Buffer.concat(parts)
}

/** Undefined unless every line follows the protocol, up to the one flush packet. */
function parseLsRefsResponse(body: Buffer, refs: readonly string[]): ReadonlyMap<string, string> | undefined {
  const found = new Map<string, string>()
  let at = 0
  for (;;) {
    const length = body.toString('latin1', at, at + 4)
    if (length === '0000') return at + 4 === body.length ? found : undefined
    const size = /^[0-9a-f]{4}$/.test(length) ? Number.parseInt(length, 16) : 0
    if (size < 5 || at + size > body.length) return undefined
    const [, id, ref] =
      /^([0-9a-f]{40}) ([^ \n]+)[^\n]*\n?$/.exec(body.toString('utf8', at + 4, at + size)) ?? []
    if (id === undefined || ref === undefined || found.has(ref)) return undefined
    if (refs.includes(ref)) found.set(ref, id)
    at += size
  }
}
